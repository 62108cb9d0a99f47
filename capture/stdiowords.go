package capture

// Stdio is the method of an exchange that is the life of one server process: its request side is
// what the process read on standard input, its response side what it wrote on standard output. Both
// go on at once, and neither waits for the other.
const Stdio = "STDIO"

// Shell is the method of an exchange that is one command that a shell ran for an agent: its request
// side is the command, and its end says how that ended.
const Shell = "SHELL"

// How the notes of such an exchange begin.
const (
	Argv       = "argv: "       // the command line follows, as a list in JSON
	Stderr     = "stderr: "     // what the process wrote there follows
	Signalled  = "signal: "     // the name of one that was passed on follows
	InputEnded = "input ended"  // whoever started the process closed its standard input
	Unwanted   = "nobody reads" // what the process writes
)
