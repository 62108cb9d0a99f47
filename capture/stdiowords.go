package capture

// Stdio is the method of an exchange that covers the lifetime of one server process. Its request side is
// the process's standard input, its response side the standard output. Both continue at the same time,
// and neither waits for the other.
const Stdio = "STDIO"

// Shell is the method of an exchange that is one shell command run for an agent. Its request side is the
// command, and its end is how the command ended.
const Shell = "SHELL"

// The beginnings of the notes of a stdio exchange. They are part of the capture format.
const (
	Argv       = "argv: "       // followed by the command line, as a JSON list
	Stderr     = "stderr: "     // followed by what the process wrote there
	Signalled  = "signal: "     // followed by the name of a signal that was passed on
	InputEnded = "input ended"  // the client closed the process's standard input
	Unwanted   = "nobody reads" // the client no longer reads the process's output
)
