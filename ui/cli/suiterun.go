package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"toolscope/providers/suite"
	"toolscope/stream"
	"toolscope/stream/count"
)

// suiteAsker asks a library for the calls that it finds in a case that is sent with a given chunking.
type suiteAsker interface {
	askCase(c *suite.Case, chunking string) (*suite.Answer, error)
}

// suiteLimits are the limits of an adapter.
type suiteLimits struct {
	start  time.Duration // maximum wait for the first line
	answer time.Duration // maximum wait for an answer
	end    time.Duration // maximum wait for the adapter's end after the last answer
	pause  time.Duration // pause between two chunks
}

var usualSuiteLimits = suiteLimits{start: time.Minute, answer: 20 * time.Second, end: 2 * time.Second, pause: 2 * time.Millisecond}

// maxAnswerLine is the maximum length of an adapter's line.
const maxAnswerLine = 4 << 20

// errNoAnswer is the error for an adapter that doesn't answer in time. A retry may succeed.
var errNoAnswer = errors.New("no answer")

// suiteAdapter is the process that asks a library. It reads questions and writes answers as JSON lines.
type suiteAdapter struct {
	args   []string
	limits suiteLimits
	info   suite.Info
	server *suiteServer
	hello  suiteHello
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string // closed at the end of the adapter's output
	errs   *limitedBuffer
	before string // id of the previous question
}

// suiteHello is the first line of an adapter.
type suiteHello struct {
	Adapter   int
	Name      string // name of the library, with its version
	About     string
	Protocols []string
	Takes     string // "url" or "bytes"
}

// startProcess starts the adapter and reads its first line.
func (d *suiteAdapter) startProcess() error {
	d.cmd = exec.Command(d.args[0], d.args[1:]...)
	d.cmd.WaitDelay = d.limits.end // a child process of the adapter may keep its pipes open
	d.errs = &limitedBuffer{maxBytes: 64 << 10}
	d.cmd.Stderr = d.errs
	in, err := d.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, w := io.Pipe()
	d.cmd.Stdout = w
	if err := d.cmd.Start(); err != nil {
		return fmt.Errorf("can't start the adapter: %w", err)
	}
	lines := make(chan string, 1)
	d.in, d.lines, d.before = in, lines, ""
	go func() {
		_ = d.cmd.Wait()
		w.Close()
	}()
	go func() {
		defer close(lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, maxAnswerLine)
		for s.Scan() {
			lines <- s.Text()
		}
		if s.Err() != nil {
			lines <- "a line with more than " + count.Of(maxAnswerLine, "byte")
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	line, err := d.readLine(d.limits.start)
	if errors.Is(err, errNoAnswer) {
		err = fmt.Errorf("the adapter wrote no first line in %v", d.limits.start)
	}
	if err != nil {
		return err
	}
	d.hello = suiteHello{}
	if json.Unmarshal([]byte(line), &d.hello) != nil || d.hello.Adapter != 1 || len(d.hello.Protocols) == 0 || d.hello.Takes != "url" && d.hello.Takes != "bytes" {
		return fmt.Errorf("the adapter's first line is %s\nit must look like {\"adapter\":1,\"protocols\":[\"openai-chat\"],\"takes\":\"url\"}, or have \"takes\":\"bytes\"", quoteStart(line))
	}
	return nil
}

// readLine returns the adapter's next line, or errNoAnswer after a timeout.
func (d *suiteAdapter) readLine(after time.Duration) (string, error) {
	limit := time.NewTimer(after)
	defer limit.Stop()
	select {
	case line, ok := <-d.lines:
		if ok {
			return line, nil
		}
		return "", errors.New("the adapter ended" + lastLine(d.errs.kept))
	case <-limit.C:
		return "", errNoAnswer
	}
}

// lastLine returns the last line of a process's error output, as the end of a sentence.
func lastLine(errs []byte) string {
	text := strings.TrimSpace(string(errs))
	return textIf(text != "", ": "+text[strings.LastIndexByte(text, '\n')+1:])
}

// quoteStart quotes the start of a string.
func quoteStart(text string) string { return strconv.Quote(stream.Clip([]byte(text), 0, 80)) }

// askCase asks the adapter. After a question without an answer, it starts the adapter again and repeats the
// question once, because the machine may have been busy.
func (d *suiteAdapter) askCase(c *suite.Case, chunking string) (*suite.Answer, error) {
	answer, err := d.askOnce(c, chunking)
	for try := 0; try < 2 && errors.Is(err, errNoAnswer); try++ {
		d.killProcess()
		if wrong := d.startProcess(); wrong != nil {
			return nil, wrong
		}
		if try == 0 {
			answer, err = d.askOnce(c, chunking)
		}
	}
	return answer, err
}

func (d *suiteAdapter) askOnce(c *suite.Case, chunking string) (*suite.Answer, error) {
	question := map[string]any{"id": c.ID + "#" + chunking, "protocol": c.Protocol, "tools": d.info.Tools}
	if d.hello.Takes == "url" {
		question["base"] = d.server.addCase(c, chunking)
	} else {
		question["chunks"], question["end"] = c.Chunks(chunking), c.End
	}
	line, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	id, before, in := c.ID+"#"+chunking, d.before, d.in
	d.before = id
	go func() { _, _ = in.Write(append(line, '\n')) }() // in a goroutine, because the adapter may have stopped reading
	text, err := d.readLine(d.limits.answer)
	if err != nil {
		return nil, err
	}
	got, answer, err := suite.ReadAnswer([]byte(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer %s is invalid: %w", quoteStart(text), err)
	case got == before && got != id:
		return nil, fmt.Errorf("the adapter answered %s twice", quoteStart(got))
	case got != id:
		return nil, fmt.Errorf("the adapter answered %s instead\nit must answer each question before it reads the next one", quoteStart(got))
	}
	return answer, nil
}

// endInput closes the adapter's input and waits for the adapter to end. A line after the last answer is an error.
func (d *suiteAdapter) endInput() error {
	defer d.killProcess()
	d.in.Close()
	limit := time.NewTimer(d.limits.end)
	defer limit.Stop()
	select {
	case line, ok := <-d.lines:
		if ok {
			return fmt.Errorf("the adapter wrote %s after its last answer", quoteStart(line))
		}
	case <-limit.C:
	}
	return nil
}

// killProcess ends the process and drops the rest of its output.
func (d *suiteAdapter) killProcess() {
	if d.cmd == nil || d.cmd.Process == nil {
		return
	}
	_ = d.cmd.Process.Kill()
	go func(lines <-chan string) {
		for range lines {
		}
	}(d.lines)
}

// suiteServer sends the streams of cases, in chunks, at a loopback address.
type suiteServer struct {
	listener net.Listener
	server   *http.Server
	pause    time.Duration
	streams  chan map[string]servedStream // holds one map
	number   int
}

// servedStream is the stream at a path.
type servedStream struct {
	of       *suite.Case
	chunking string
}

func startSuiteServer(pause time.Duration) (*suiteServer, error) {
	listener, err := listenAt("127.0.0.1:0", false)
	if err != nil {
		return nil, err
	}
	s := &suiteServer{listener: listener, pause: pause, streams: make(chan map[string]servedStream, 1)}
	s.streams <- map[string]servedStream{}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// addCase adds a case to the server, and returns the base URL under which the server sends the case's stream.
func (s *suiteServer) addCase(c *suite.Case, chunking string) string {
	s.number++
	path := fmt.Sprintf("/c/%d/%s/", s.number, chunking)
	all := <-s.streams
	clear(all)
	all[path] = servedStream{c, chunking}
	s.streams <- all
	return "http://" + s.listener.Addr().String() + path + "v1"
}

// ServeHTTP sends the stream of a case, whatever path under its base URL is requested.
func (s *suiteServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := <-s.streams
	of, ok := servedStream{}, false
	for path, served := range all {
		if strings.HasPrefix(r.URL.Path, path) {
			of, ok = served, true
		}
	}
	s.streams <- all
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", of.of.ContentType())
	out := http.NewResponseController(w)
	for i, chunk := range of.of.Chunks(of.chunking) {
		if i > 0 && (of.chunking != "byte" || chunk[0] >= 0x80) { // with the chunking "byte", pause only before and in multi-byte characters
			time.Sleep(s.pause)
		}
		if _, err := w.Write(chunk); err != nil || out.Flush() != nil {
			return
		}
	}
	if of.of.End != "reset" {
		return
	}
	time.Sleep(25 * s.pause) // wait, because a reset discards bytes that the client has not read
	conn, _, err := out.Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

// askAll asks for the answers to all cases with all chunkings. After an error, it asks no more questions, and returns
// the results so far.
func askAll(ctx context.Context, by suiteAsker, cases []*suite.Case) (results []*suite.Result, questions int, err error) {
	silent := 0
	for _, c := range cases {
		r := &suite.Result{Case: c}
		missing := false
		for _, chunking := range c.Chunkings() {
			if ctx.Err() != nil {
				return results, questions, ctx.Err()
			}
			questions++
			answer, err := by.askCase(c, chunking)
			if err != nil && !errors.Is(err, errNoAnswer) {
				return results, questions, fmt.Errorf("%s with the chunking %s: %w", c.ID, chunking, err)
			}
			r.Answers = append(r.Answers, suite.ChunkedAnswer{Chunking: chunking, Answer: answer})
			if missing = answer == nil; missing {
				break
			}
		}
		r.SetVerdict()
		results = append(results, r)
		if silent++; !missing {
			silent = 0
		}
		if silent == maxSilentCases {
			return results, questions, fmt.Errorf("%s: the adapter did not answer %s in a row", c.ID, count.Of(silent, "case"))
		}
	}
	return results, questions, nil
}

// maxSilentCases is the number of successive cases without an answer after which a run ends.
const maxSilentCases = 3
