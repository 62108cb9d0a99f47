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

// Options are the options of the program.
type Options struct {
	Source   string                      // name of the source: a file name, "stdin", "demo"
	Inbox    Inbox                       // the records; nil if there is no source yet
	Playback Playback                    // controls the clock of a played source; nil for others
	Setup    *SetupGuide                 // client setup of a live source, shown while there is no traffic; may be nil
	Status   func() []StatusNote         // status notes of the source; called at each frame; may be nil
	Machines func() []panes.MachineState // the publishing machines, by name; called each second; nil for a local source
	Demo     OpenDemo                    // opens the demo, which is offered if there is nothing else to show; may be nil
	Tour     bool                        // the source is the demo tour
	Speed    float64                     // speed of the demo; 0 means 1
	Prepare  func(*providers.Inspector)  // configures the inspector; nil to detect formats
	Recent   []RecentCapture             // captures to choose from if there is no source; may be nil
	Copy     CopyText                    // copies a text to the clipboard; may be nil
	Save     SaveFile                    // writes a new file; may be nil
	Edit     EditorCommand               // opens a text in an editor; may be nil
	Pipe     PipeText                    // pipes a text to a command; may be nil
	Forms    []modes.ExportForm          // the export formats
	Remember SaveTheme                   // saves a theme for the next run; may be nil
	Break    modes.Breakpoint            // holds responses; nil without a proxy
	Cut      CutCapture                  // may be nil; never without Save
	Send     SendRequest                 // sends a request; may be nil
	Answers  Inbox                       // records of sent requests and their responses; never nil with Send
	Places   []send.Destination          // the destinations of requests
	Suspend  func()                      // stops the program until it is continued; may be nil
	Theme    themes.Theme
	Themes   []themes.Theme   // the user's own
	Keys     UserKeys         // replacements for built-in keys
	Asked    bool             // the user named the theme
	Terminal Background       // the background, as far as known
	Depth    termenv.Profile  // colours the terminal has
	ASCII    bool             // draw with ASCII only
	Calm     bool             // reduced motion
	Layout   Layout           // the saved layout
	Large    bool             // the large layout, for an audience
	Written  func() int64     // bytes written to the terminal so far, for the write budget; nil for no limit
	Keep     int64            // maximum bytes of ended turns that can't be reloaded; 0 for no limit
	Prices   *price.Table     // token prices; nil for the embedded ones
	Journal  *Journal         // the journal with earlier notes; nil for a new one
	Now      func() time.Time // the clock; nil for time.Now
}

// CutCapture returns a capture that ends at the moment of a view.
type CutCapture func(at *providers.View) ([]byte, error)

// CopyText copies a text to the clipboard and returns the methods that it used.
type CopyText func(text []byte) (ways string, err error)

// SaveFile writes a new file with a name like the given one, and returns its path. It never overwrites a
// file.
type SaveFile func(name string, data []byte) (path string, err error)

// PipeText pipes a text to a shell command, and returns its output.
type PipeText func(command string, data []byte) (output []byte, err error)

// SaveTheme saves the name of a theme for the next run, and returns the place.
type SaveTheme func(theme string) (where string, err error)

// OpenDemo opens the demo, in its own inbox or in that of the source.
type OpenDemo func(ownInbox bool) Inbox

// Playback is a clock with a speed that can be paused.
type Playback interface {
	Pause(bool)
	Paused() bool
	SetSpeed(float64)
	Speed() float64
}
