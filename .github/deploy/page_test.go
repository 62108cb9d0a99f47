package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// example decodes the example of a Kubernetes object on the sidecar page. Unknown fields are errors.
func example(t *testing.T, kind string, into any) {
	t.Helper()
	page := read(t, "../../ui/docs/sidecar.md")
	for _, block := range regexp.MustCompile("(?s)\n```yaml\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if strings.Contains(block[1], "\nkind: "+kind+"\n") {
			if err := yaml.UnmarshalStrict([]byte(block[1]), into); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			return
		}
	}
	t.Fatalf("the page has no %s", kind)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cluster is a hub with the permissions that the page on hubs gives one host. The host's files are at the paths used
// in the examples.
type cluster struct {
	dir, hub string
	viewer   []string // flags with the credentials of a viewer
}

func newCluster(t *testing.T, host string) *cluster {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip(err)
	}
	c := &cluster{dir: t.TempDir(), hub: freeAddress(t)}
	at := func(name string) string { return filepath.Join(c.dir, name) }
	cert := exec.Command("openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=hub", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", at("hub.key"), "-out", at("ca.pem"))
	if out, err := cert.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	key := func(name string) string {
		out, err := exec.Command(program(t, ""), "hub", "--new-key", at(name)).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	auth := regexp.MustCompile("(?s)\n```\n(authorization \\{.*?)```").FindStringSubmatch(read(t, "../../ui/docs/hubs.md"))
	if auth == nil {
		t.Fatal("the page has no permissions")
	}
	permit := strings.NewReplacer("UA…", key(host+".nk"), "UB…", key("viewer.nk"), "web1", host).Replace(auth[1])
	started(t, c.env(), program(t, ""), "hub", "--listen", c.hub, "--public", "--auth", file(t, at("auth.conf"), permit),
		"--tls-cert", at("ca.pem"), "--tls-key", at("hub.key"), "--store", at("store")).listens()
	c.viewer = []string{"--nkey", at("viewer.nk"), "--hub-ca", at("ca.pem")}
	return c
}

func (c *cluster) env() []string { return []string{"HOME=" + c.dir, "PATH=" + os.Getenv("PATH")} }

// has waits until a viewer sees two complete calls of the given host and agent, as in the demo.
func (c *cluster) has(t *testing.T, host, agent string) {
	t.Helper()
	args := append([]string{"print", "--format", "jsonl", "tls://" + c.hub + "?until=now&host=" + host + "&agent=" + agent}, c.viewer...)
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		cmd := exec.Command(program(t, ""), args...)
		cmd.Env = c.env()
		out, err := cmd.CombinedOutput()
		if bytes.Count(out, []byte(`"status":"complete"`)) == 2 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no calls of %s, %s: %v\n%s", host, agent, err, out)
		}
	}
}

// args returns the arguments of a container with its variables replaced.
func args(c core.Container, named *strings.Replacer) (all []string) {
	for _, arg := range c.Args {
		for _, v := range c.Env {
			arg = strings.ReplaceAll(arg, "$("+v.Name+")", "the-"+strings.ToLower(v.Name))
		}
		all = append(all, named.Replace(arg))
	}
	return all
}

// TestPod checks that the sidecar on the page is valid for Kubernetes, listens at the address that the agent uses,
// and passes its probe. With the permissions from the page on hubs, it must be allowed to publish to a hub.
func TestPod(t *testing.T) {
	var pod apps.Deployment
	example(t, "Deployment", &pod)
	spec := pod.Spec.Template.Spec
	agent, sidecar := spec.Containers[0], spec.InitContainers[0]
	if sidecar.RestartPolicy == nil || *sidecar.RestartPolicy != core.ContainerRestartPolicyAlways || spec.TerminationGracePeriodSeconds == nil || *spec.TerminationGracePeriodSeconds < 30 {
		t.Error("that is no sidecar, or ends too soon")
	}
	mounted(t, spec, sidecar)
	c, listen := newCluster(t, "coder"), freeAddress(t)
	provider := freeAddress(t)
	started(t, c.env(), program(t, ""), "serve", "--listen", provider, "--speed", "max", "../../ui/cli/demo/parallel.tsc").listens()
	named := strings.NewReplacer("127.0.0.1:8080", listen, "hub:4222", c.hub, "/hub/", c.dir+"/", "/data/", c.dir+"/")
	proxy := started(t, append(c.env(), "ANTHROPIC_BASE_URL=http://"+provider), append([]string{program(t, "nohub,nootlp")}, args(sidecar, named)...)...).listens()
	probe := sidecar.StartupProbe.Exec.Command
	for i := range probe {
		probe[i] = named.Replace(probe[i])
	}
	if out, err := exec.Command(program(t, "nohub,nootlp"), probe[1:]...).CombinedOutput(); err != nil || probe[0] != "/toolscope" {
		t.Errorf("%v: %v\n%s", probe, err, out)
	}
	ask := exec.Command("curl", "-sSf", named.Replace(agent.Env[0].Value)+"/v1/messages", "-d", "{}")
	if out, err := ask.CombinedOutput(); err != nil || agent.Env[0].Name != "ANTHROPIC_BASE_URL" {
		t.Fatalf("%v\n%s", err, out)
	}
	c.has(t, "coder", "the-pod")
	proxy.ends(128 + 15)
}

// TestDaemon checks that the DaemonSet is valid, and that it publishes the log that it follows on each node.
func TestDaemon(t *testing.T) {
	var daemon apps.DaemonSet
	example(t, "DaemonSet", &daemon)
	spec := daemon.Spec.Template.Spec
	mounted(t, spec, spec.Containers[0])
	c, logs := newCluster(t, "logs"), t.TempDir()
	out, err := exec.Command(program(t, ""), "export", "../../ui/cli/demo/parallel.tsc", "--as", "sse").Output()
	if err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(logs, "gateway.log"), string(out))
	named := strings.NewReplacer("hub:4222", c.hub, "/hub/", c.dir+"/", "/data/", c.dir+"/", "/var/log/gateway", logs)
	p := started(t, c.env(), append([]string{program(t, "nohub,nootlp")}, args(spec.Containers[0], named)...)...)
	c.has(t, "logs", "the-node")
	p.ends(128 + 15)
}

// mounted checks that the volumes of a container exist, and that they contain the container's files.
func mounted(t *testing.T, spec core.PodSpec, c core.Container) {
	t.Helper()
	there := map[string]bool{}
	for _, v := range spec.Volumes {
		there[v.Name] = true
	}
	below := []string{}
	for _, m := range c.VolumeMounts {
		if !there[m.Name] {
			t.Errorf("there is no volume %s", m.Name)
		}
		below = append(below, m.MountPath)
	}
	for _, arg := range c.Args {
		_, path, ok := strings.Cut("="+arg, "=/")
		if !ok {
			continue
		}
		path = "/" + path[strings.LastIndex(path, "=/")+1:]
		inside := false
		for _, dir := range below {
			inside = inside || strings.HasPrefix(path+"/", dir+"/")
		}
		if !inside {
			t.Errorf("%s is in no volume", arg)
		}
	}
}
