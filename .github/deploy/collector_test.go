package deploy

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// head returns the comment at the top of the compose file.
func head(t *testing.T) string {
	t.Helper()
	text, _, ok := strings.Cut(read(t, "compose.yaml"), "\nname:")
	if !ok {
		t.Fatal("the compose file has no name")
	}
	return text
}

// variable returns the line NAME=VALUE that the head writes to .env.
func variable(t *testing.T, name string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^#   echo "(` + name + `=[^"]+)" >> \.env$`).FindStringSubmatch(head(t))
	if line == nil {
		t.Fatalf("no command of the head sets %s", name)
	}
	return line[1]
}

// TestHead checks that each profile and service in the head exists.
func TestHead(t *testing.T) {
	project, profiles := loaded(t), []string(nil)
	for _, s := range project.Services {
		profiles = append(profiles, s.Profiles...)
	}
	named := regexp.MustCompile(`--profile (\S+)`).FindAllStringSubmatch(head(t), -1)
	if len(named) == 0 {
		t.Error("the head names no profile")
	}
	for _, p := range named {
		if !slices.Contains(profiles, p[1]) {
			t.Errorf("no service has the profile %s", p[1])
		}
	}
	for _, s := range regexp.MustCompile(`docker compose .*(?:run --rm|logs -f) (\S+)`).FindAllStringSubmatch(head(t), -1) {
		if _, there := project.Services[s[1]]; !there {
			t.Errorf("there is no service %s", s[1])
		}
	}
}

// TestCollector checks that the collector reads its configuration, listens at the address that the hub uses,
// and prints the spans that it receives.
func TestCollector(t *testing.T) {
	project := loaded(t, variable(t, "OTLP"))
	service := project.Services["collector"]
	if len(service.Configs) != 1 || !slices.Equal(service.Command, []string{"--config", service.Configs[0].Target}) {
		t.Fatalf("it is started with %q, and has %v", service.Command, service.Configs)
	}
	if _, tag, _ := strings.Cut(service.Image, ":"); !regexp.MustCompile(`^0\.\d+\.\d+$`).MatchString(tag) {
		t.Errorf("its image is %s: the next one may print other things", service.Image)
	}
	var config struct {
		Receivers struct {
			OTLP struct {
				Protocols struct{ HTTP struct{ Endpoint string } }
			}
		}
		Exporters struct{ Debug struct{ Verbosity string } }
		Service   struct {
			Pipelines struct {
				Traces struct{ Receivers, Exporters []string }
			}
		}
	}
	if err := yaml.UnmarshalStrict([]byte(project.Configs[service.Configs[0].Source].Content), &config); err != nil {
		t.Fatal(err)
	}
	to, listens := "nobody", config.Receivers.OTLP.Protocols.HTTP.Endpoint
	if v := project.Services["hub"].Environment["TOOLSCOPE_HUB_OTLP"]; v != nil {
		to = *v
	}
	if port, ok := strings.CutPrefix(to, "http://collector:"); !ok || listens != "0.0.0.0:"+port {
		t.Errorf("the hub tells %s, and it listens on %s", to, listens)
	}
	traces := config.Service.Pipelines.Traces
	if !slices.Equal(traces.Receivers, []string{"otlp"}) || !slices.Equal(traces.Exporters, []string{"debug"}) || config.Exporters.Debug.Verbosity != "detailed" {
		t.Errorf("what it gets it does not print: %+v", config)
	}
}

// TestNoCollector checks that the hub starts without a collector if the variable OTLP is not set.
func TestNoCollector(t *testing.T) {
	needs(t, "openssl", "sh")
	m := standIn(t, "nowhere")
	if _, env := m.line("hub"); !slices.Contains(env, "TOOLSCOPE_HUB_OTLP=") {
		t.Errorf("its environment is %q", env)
	}
	m.run("certificate")
	m.start("hub").listens()
}

// collects starts a stand-in for a collector, and returns its address. The channel receives the first request.
func collects(t *testing.T) (told <-chan string, address string) {
	t.Helper()
	first := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case first <- r.Method + " " + r.URL.Path:
		default:
		}
	}))
	t.Cleanup(s.Close)
	return first, s.Listener.Addr().String()
}
