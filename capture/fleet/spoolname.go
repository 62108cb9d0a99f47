package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// maxFolderBytes is how long the name of a hub's folder is. No file system takes one of more than 255 bytes, and a
// cluster has several hosts.
const maxFolderBytes = 200

// spoolOf is the folder of one hub below a directory: what waits for it is for no other. One that would have
// a long name is called by its hash, as no other is.
func spoolOf(dir, server string) string {
	var at []string
	for _, one := range strings.Split(server, ",") { // of a cluster
		if u, err := url.Parse(one); err == nil {
			one = net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), "4222"))
		}
		at = append(at, one)
	}
	slices.Sort(at)
	name := subjectToken(strings.Join(at, ","))
	if len(name) > maxFolderBytes {
		sum := sha256.Sum256([]byte(name))
		name = "%-" + hex.EncodeToString(sum[:16])
	}
	return filepath.Join(dir, name)
}

// spoolName is how a capture's spool is called.
func spoolName(o subjectParts) string {
	return subjectToken(o.host) + "." + subjectToken(o.agent) + "." + o.id
}

// spoolOrigin is whose a spool of that name is. Anything else that lies there has no such name.
func spoolOrigin(name string) (o subjectParts, ok bool) {
	part := strings.Split(name, ".")
	if len(part) != 3 {
		return o, false
	}
	o = subjectParts{version, unescapeToken(part[0]), unescapeToken(part[1]), part[2]}
	id, err := hex.DecodeString(o.id)
	return o, err == nil && len(id) == 16 && o.host != "" && o.agent != "" && spoolName(o) == name
}
