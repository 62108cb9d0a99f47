package proxy

import (
	"encoding/binary"
	"net/netip"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// These constants are from linux/sock_diag.h, linux/inet_diag.h and net/tcp_states.h.
const (
	sockDiagByFamily = 20
	sockRequestLen   = unix.SizeofNlMsghdr + 56 // struct inet_diag_req_v2
	sockAnswerLen    = unix.SizeofNlMsghdr + 72 // struct inet_diag_msg
	sockInodeAt      = sockAnswerLen - 4
	sockStateAt      = unix.SizeofNlMsghdr + 1
	sockListens      = 10
)

// hasOpenSocket reports whether a process on this machine has an open socket for a connection from one address to the
// other. The kernel keeps closed sockets for a while, but without an inode.
func hasOpenSocket(from, to netip.AddrPort) bool {
	link, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return false
	}
	defer unix.Close(link)
	answerTime := unix.NsecToTimeval(time.Second.Nanoseconds())
	if unix.SetsockoptTimeval(link, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &answerTime) != nil ||
		unix.Sendto(link, socketRequest(from, to), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return false
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(link, answer, 0)
	return err == nil && n >= sockAnswerLen && binary.NativeEndian.Uint16(answer[4:]) == sockDiagByFamily &&
		answer[sockStateAt] != sockListens && binary.NativeEndian.Uint32(answer[sockInodeAt:]) != 0
}

// socketRequest returns the request for information about a socket with these addresses: a struct nlmsghdr and a
// struct inet_diag_req_v2.
func socketRequest(from, to netip.AddrPort) []byte {
	family := byte(unix.AF_INET)
	if !from.Addr().Unmap().Is4() {
		family = unix.AF_INET6
	}
	p := binary.NativeEndian.AppendUint32(nil, sockRequestLen)
	p = binary.NativeEndian.AppendUint16(p, sockDiagByFamily)
	p = binary.NativeEndian.AppendUint16(p, unix.NLM_F_REQUEST)
	p = append(p, make([]byte, 8)...) // sequence number and sender
	p = append(p, family, unix.IPPROTO_TCP, 0, 0)
	p = binary.NativeEndian.AppendUint32(p, 1<<sockListens-1) // states
	p = binary.BigEndian.AppendUint16(p, from.Port())
	p = binary.BigEndian.AppendUint16(p, to.Port())
	for _, addr := range []netip.Addr{from.Addr(), to.Addr()} {
		var room [16]byte
		copy(room[:], addr.Unmap().AsSlice())
		p = append(p, room[:]...)
	}
	p = append(p, 0, 0, 0, 0) // any interface
	return append(p, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
}

// KillWithParent makes the system kill the process when the thread that started it ends.
func KillWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
