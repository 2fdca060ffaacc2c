package share

import (
	"net"

	"dev.scrapetop/engine/lease"
)

// With joins the processes that use the database file at path, which is absolute and free of links. What they leave to this
// process is told by the returned News and then to hear. It takes no longer than a few seconds, and without others no time.
func With(path string, hear func(lease.News)) (lease.Sharing, lease.News, error) {
	p, err := besideFile(path)
	if err != nil {
		return nil, lease.News{}, err
	}
	return open(p, hear)
}

// own connects the holder's own process.
func (h *holder) own() net.Conn {
	mine, its := net.Pipe()
	h.join(its)
	return mine
}
