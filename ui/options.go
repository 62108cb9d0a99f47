package ui

import (
	"time"

	"github.com/muesli/termenv"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/themes"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/send"
)

// Options is what the program is started with.
type Options struct {
	Source   string                      // what is looked at, in a word or two: a file name, "stdin", "demo"
	Inbox    Inbox                       // where records come from; nil when there is no source yet
	Playback Playback                    // the clock of a source that is played; nil for others
	Setup    *SetupGuide                 // what a live source waits for, shown while nothing has come; may be nil
	Status   func() []StatusNote         // what whoever feeds the inbox has to say; asked at each frame; may be nil
	Machines func() []panes.MachineState // the machines that send what is looked at, by name; asked each second; nil where it is of this one
	Demo     OpenDemo                    // brings the demo when there is nothing else to see; may be nil
	Tour     bool                        // the source is the demo, to be shown to a room
	Speed    float64                     // at which the demo is shown; 1 when 0
	Prepare  func(*providers.Inspector)  // how what comes is read; nil for as its bytes say
	Recent   []RecentCapture             // recordings to choose from, where there is no source; may be nil
	Copy     CopyText                    // puts a text into the clipboard; may be nil
	Save     SaveFile                    // writes a new file; may be nil
	Edit     EditorCommand               // opens a text in an editor; may be nil
	Pipe     PipeText                    // gives a text to a command; may be nil
	Forms    []modes.ExportForm          // in which what is chosen can be taken
	Remember SaveTheme                   // keeps a theme for the next time; may be nil
	Break    modes.Breakpoint            // holds answers back; nil where none pass through
	Cut      CutCapture                  // may be nil; never without Save
	Send     SendRequest                 // sends a request; may be nil
	Answers  Inbox                       // where what was sent arrives, and what comes back; never nil with Send
	Places   []send.Destination          // where to
	Suspend  func()                      // stops the program until it is continued; may be nil
	Theme    themes.Theme
	Themes   []themes.Theme   // the user's own
	Keys     UserKeys         // in place of those that are built in
	Asked    bool             // for that theme, by name
	Terminal Background       // as far as it is known
	Depth    termenv.Profile  // colours the terminal has
	ASCII    bool             // draw with ASCII only
	Calm     bool             // little moves by itself
	Layout   Layout           // as the screen was left the last time
	Large    bool             // few words and much room, for who sits at the back of a room
	Written  func() int64     // bytes that the terminal was given, so that it is not given too many; nil where nobody counts
	Keep     int64            // bytes that turns may hold that ended and cannot be read again; 0 for all
	Prices   *price.Table     // what tokens cost; the embedded prices when nil
	Journal  *Journal         // has what was noted before; a new one when nil
	Now      func() time.Time // the clock; time.Now when nil
}

// CutCapture is a recording of what there was at the moment of a view, which ends there.
type CutCapture func(at *providers.View) ([]byte, error)

// CopyText puts a text into the clipboard and says by which ways.
type CopyText func(text []byte) (ways string, err error)

// SaveFile writes a new file of about that name, and says which it became. It never writes over one
// that is there.
type SaveFile func(name string, data []byte) (path string, err error)

// PipeText gives a text to a command of the shell's, and returns what that prints.
type PipeText func(command string, data []byte) (output []byte, err error)

// SaveTheme keeps the name of a theme for the next time, and says where.
type SaveTheme func(theme string) (where string, err error)

// OpenDemo brings the demo: in an inbox of its own, or else among what the source brings.
type OpenDemo func(ownInbox bool) Inbox

// Playback is a clock that can be slowed, hurried and stopped.
type Playback interface {
	Pause(bool)
	Paused() bool
	SetSpeed(float64)
	Speed() float64
}
