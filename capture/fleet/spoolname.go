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

// maxFolderBytes is the maximum length of the name of a hub's folder. File systems allow 255 bytes, and a
// cluster's address names several hosts.
const maxFolderBytes = 200

// spoolOf returns the folder of one hub below a directory. Each hub has its own. A long name is replaced by
// its hash, in a form that no other name has.
func spoolOf(dir, server string) string {
	var at []string
	for _, one := range strings.Split(server, ",") { // several for a cluster
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

// spoolName returns the name of a capture's spool.
func spoolName(o subjectParts) string {
	return subjectToken(o.host) + "." + subjectToken(o.agent) + "." + o.id
}

// spoolOrigin parses the name of a spool. ok is false for other files.
func spoolOrigin(name string) (o subjectParts, ok bool) {
	part := strings.Split(name, ".")
	if len(part) != 3 {
		return o, false
	}
	o = subjectParts{version, unescapeToken(part[0]), unescapeToken(part[1]), part[2]}
	id, err := hex.DecodeString(o.id)
	return o, err == nil && len(id) == 16 && o.host != "" && o.agent != "" && spoolName(o) == name
}
