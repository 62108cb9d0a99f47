package deploy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/creack/pty"
)

const token = "12e4f09ab3c5d6e7f8091a2b3c4d5e6f"

// loaded returns the compose file, loaded by compose with the given variables. Compose first checks the file
// against its schema.
func loaded(t *testing.T, variables ...string) *types.Project {
	t.Helper()
	variables = append(variables, "HUB_TOKEN="+token)
	o, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithEnv(variables), cli.WithProfiles([]string{"*"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := o.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// machine runs the programs of all containers as processes. The containers' addresses are ports of this machine, and
// their files are in dir.
type machine struct {
	t       *testing.T
	project *types.Project
	dir     string
	named   *strings.Replacer
}

// standIn returns a machine. If the hub has a collector, the collector is at the given address.
func standIn(t *testing.T, collector string, variables ...string) *machine {
	m := &machine{t: t, project: loaded(t, variables...), dir: t.TempDir()}
	demo, err := filepath.Abs("../../ui/cli/demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"keys", "ca", "data", "bin"} {
		if err := os.Mkdir(filepath.Join(m.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"apk", "chown"} { // these commands do nothing: openssl may be installed on this machine, and its users differ from the container's
		if err := os.WriteFile(filepath.Join(m.dir, "bin", name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	auth := file(t, filepath.Join(m.dir, "auth.conf"), m.project.Configs["auth"].Content)
	secret := file(t, filepath.Join(m.dir, "hub-token"), token)
	hub, provider, proxy := freeAddress(t), freeAddress(t), freeAddress(t)
	m.named = strings.NewReplacer(
		"0.0.0.0:4222", hub, "hub:4222", hub, "0.0.0.0:8000", provider, "provider:8000", provider, "127.0.0.1:8080", proxy,
		"/keys/", filepath.Join(m.dir, "keys")+"/", "/ca/", filepath.Join(m.dir, "ca")+"/", "/data/", filepath.Join(m.dir, "data")+"/",
		"/samples/", demo+"/", "/auth.conf", auth, "collector:4318", collector, "/run/secrets/hub-token", secret,
	)
	return m
}

// line returns the command line and the environment of a service.
func (m *machine) line(name string) (args, env []string) {
	m.t.Helper()
	s, err := m.project.GetService(name)
	if err != nil {
		m.t.Fatal(err)
	}
	env = []string{"PATH=" + filepath.Join(m.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + m.dir}
	for key, value := range s.Environment {
		env = append(env, key+"="+m.named.Replace(*value))
	}
	args = append(args, s.Entrypoint...)
	if s.Build != nil {
		tags := ""
		if t := s.Build.Args["TAGS"]; t != nil {
			tags = *t
		}
		args = append(args, program(m.t, tags))
	}
	for _, arg := range s.Command {
		args = append(args, m.named.Replace(arg))
	}
	return args, env
}

func (m *machine) start(name string) *process {
	m.t.Helper()
	args, env := m.line(name)
	return started(m.t, env, args...)
}

// run runs a service until it ends.
func (m *machine) run(name string) {
	m.t.Helper()
	args, env := m.line(name)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// TestOneHasTheKey checks that only the hub and the service that creates the key can read the key.
func TestOneHasTheKey(t *testing.T) {
	for _, s := range loaded(t).Services {
		for _, v := range s.Volumes {
			if v.Source == "keys" && s.Name != "hub" && s.Name != "certificate" {
				t.Errorf("%s has it in %s", s.Name, v.Target)
			}
		}
	}
}

// TestCompose checks that the services work together. A viewer of the hub shows the calls that an agent gets
// through its proxy, and the collector receives the spans of these calls. A proxy that receives a signal
// prints only the signal.
func TestCompose(t *testing.T) {
	needs(t, "openssl", "curl", "sh")
	told, collector := collects(t)
	m := standIn(t, collector, variable(t, "OTLP"))
	m.run("certificate")
	m.start("provider").listens()
	m.start("hub").listens()
	proxy := m.start("proxy").listens()
	m.healthy("proxy")
	m.start("agent")
	screen(t, m, "view", "run_tests", "web1", "lost 0 B")
	select {
	case path := <-told:
		if path != "POST /v1/traces" {
			t.Errorf("the hub asked the collector for %s", path)
		}
	case <-time.After(patience):
		t.Error("the hub never told the collector")
	}
	proxy.ends(128 + 15)
}

// needs skips a test if a program is not installed.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
}

// healthy runs the health check of a service once.
func (m *machine) healthy(name string) {
	m.t.Helper()
	s, args := m.project.Services[name], []string(nil)
	for _, arg := range s.HealthCheck.Test[1:] {
		args = append(args, m.named.Replace(arg))
	}
	line, _ := m.line(name)
	if out, err := exec.Command(line[0], args[1:]...).CombinedOutput(); err != nil || s.HealthCheck.Test[0] != "CMD" || args[0] != "/toolscope" {
		m.t.Errorf("%v: %v\n%s", s.HealthCheck.Test, err, out)
	}
}

// screen runs a service in a terminal until the screen shows all of the wanted strings.
func screen(t *testing.T, m *machine, name string, wanted ...string) {
	t.Helper()
	args, env := m.line(name)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 140})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	defer terminal.Close()
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	drawn, some := "", make([]byte, 1<<14)
	for {
		n, err := terminal.Read(some)
		drawn += string(some[:n])
		missing := ""
		for _, text := range wanted {
			if !strings.Contains(drawn, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if err != nil {
			t.Fatalf("%q never stood on the screen: %q", missing, drawn[max(0, len(drawn)-4000):])
		}
	}
}
