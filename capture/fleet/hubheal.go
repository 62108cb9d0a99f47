//go:build !nohub

package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	"toolscope/capture/record"
)

const (
	minHealPause = 2 * time.Second // before a hub checks for room again; twice as long each time
	maxHealPause = time.Minute     // at most; the pause starts over if there was room for this long
	minHealRoom  = 16 << 20        // bytes that must be free for a restart
)

var errFull = errors.New("there is no room")

// isStuck reports whether the server logs that a stream accepts nothing any more, because a write failed.
// That lasts until the server restarts, even if there is room later.
func isStuck(format string) bool { return strings.Contains(format, "critical write error") }

// isRefused reports whether the server logs that of one message. It does so for each message while stuck.
func isRefused(text string) bool { return strings.Contains(text, "failed to store a msg") }

// reasonOf returns the error in a log line of the server.
func reasonOf(v []any) string {
	if len(v) > 0 {
		if err, is := v[len(v)-1].(error); is {
			return plainReason(err).Error()
		}
	}
	return "the disk refuses to write"
}

// restartOnDiskError restarts the server after a failed write, once there is room, until ctx ends. Senders
// keep their data meanwhile, and reconnect.
func (h *Hub) restartOnDiskError(ctx context.Context) {
	defer close(h.healed)
	pause, since := minHealPause, time.Time{} // time of the last restart
	for {
		select {
		case <-ctx.Done():
			return
		case why := <-h.log.stuck:
			h.log.say("hub: no more data is stored: " + why + "; machines keep their data until there is room")
		}
		if time.Since(since) > maxHealPause {
			pause = minHealPause
		}
		for err := errFull; err != nil; pause = min(2*pause, maxHealPause) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			if err = record.HasRoom(h.o.Store, minHealRoom); err != nil {
				continue
			}
			if err = h.restart(ctx); err != nil && ctx.Err() == nil {
				h.log.say("hub: it can't restart: " + plainReason(err).Error())
			}
		}
		since = time.Now()
		h.log.say("hub: there is room again, and it stores data again")
	}
}

// restart stops the server and starts a new one, at the same address.
func (h *Hub) restart(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server.Shutdown()
	h.server.WaitForShutdown()
	for len(h.log.stuck) > 0 {
		<-h.log.stuck // from the old server
	}
	return h.startServer(ctx)
}
