package share

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pathMost is how long the path of a socket may be: 104 bytes with the final zero on some systems, 108 on others.
const pathMost = 103

// dialFor bounds how long the holder's socket may take to answer.
const dialFor = time.Second

// beside is the place beside a database file.
type beside struct{ lock, socket string }

// besideFile finds lock and socket of a database file. path is absolute and free of links.
func besideFile(path string) (beside, error) {
	b := beside{lock: path + "-share", socket: path + "-share.sock"}
	if len(b.socket) <= pathMost {
		return b, nil
	}
	sum := sha256.Sum256([]byte(path))
	dir, err := ownFolder()
	if err != nil {
		return b, err
	}
	if b.socket = filepath.Join(dir, hex.EncodeToString(sum[:12])+".sock"); len(b.socket) > pathMost {
		return b, fmt.Errorf("the paths of the database and of %s are both too long for a socket", dir)
	}
	return b, nil
}

// ownFolder is a folder that is this user's alone.
func ownFolder() (string, error) {
	base := os.Getenv("XDG_RUNTIME_DIR")
	if base == "" {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "scrapetop-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ours(dir) {
		return "", fmt.Errorf("%s is not a folder of yours alone", dir)
	}
	return dir, nil
}

// ours reports that a file, and not a link to one, belongs to this user.
func ours(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && int(st.Uid) == os.Getuid()
}

func (b beside) dial() (net.Conn, error) {
	info, err := os.Lstat(b.socket)
	if err != nil {
		return nil, err
	}
	if info.Mode().Type() != fs.ModeSocket || !ours(b.socket) {
		return nil, fmt.Errorf("%s is not a socket of yours", b.socket)
	}
	return net.DialTimeout("unix", b.socket, dialFor)
}

// held is the lock file, locked, with the socket.
type held struct {
	beside
	file   *os.File
	listen net.Listener
	known  int
}

func (b beside) hold() (seat, error) {
	f, err := os.OpenFile(b.lock, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	h := &held{beside: b, file: f}
	if err := h.take(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return h, nil
}

// take locks the file, unless it was removed meanwhile by a holder that left, reads what its last holder noted, and listens.
func (h *held) take() error {
	if err := unix.Flock(int(h.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return errHeld
		}
		return fmt.Errorf("lock file: %w", err)
	}
	mine, err := h.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(h.lock); err != nil || !os.SameFile(mine, there) {
		return errHeld // the next try finds the new one
	}
	text := make([]byte, 16)
	n, _ := h.file.ReadAt(text, 0) // an empty file ends early
	h.known, _ = strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err := os.Remove(h.socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if h.listen, err = net.Listen("unix", h.socket); err != nil {
		return err
	}
	if err := os.Chmod(h.socket, 0o600); err != nil {
		return errors.Join(err, h.listen.Close())
	}
	return nil
}

func (h *held) accept() (net.Conn, error) { return h.listen.Accept() }

func (h *held) before() int { return h.known }

func (h *held) note(processes int) error {
	if err := h.file.Truncate(0); err != nil {
		return err
	}
	_, err := h.file.WriteAt([]byte(strconv.Itoa(processes)), 0)
	return err
}

func (h *held) leave(alone bool) error {
	err := h.listen.Close() // removes the socket
	if alone {
		err = errors.Join(err, os.Remove(h.lock))
	}
	return errors.Join(err, h.file.Close())
}
