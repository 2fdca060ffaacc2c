package share

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"dev.scrapetop/engine/lease"
)

// version is of the messages below: processes of different ones do not share.
const version = 1

// lineMost bounds one message. A demand takes about a hundred bytes.
const lineMost = 32 << 20

// told is a message of a member.
type told struct {
	Version int              `json:"v,omitempty"` // in the first
	Number  int64            `json:"i"`
	Done    int64            `json:"d,omitempty"` // the last deal that was carried out
	Whole   bool             `json:"w,omitempty"`
	Bye     bool             `json:"bye,omitempty"`
	Demands []lease.Demand   `json:"q,omitempty"`
	Cooled  []lease.Cooldown `json:"c,omitempty"`
}

// heard is a message of the holder.
type heard struct {
	Version int              `json:"v,omitempty"` // in the first
	Number  int64            `json:"i,omitempty"` // the last of the member's messages that it has taken
	Deal    int64            `json:"d,omitempty"`
	Members int              `json:"m,omitempty"`
	Bound   bool             `json:"b,omitempty"`
	Grants  []lease.Grant    `json:"g,omitempty"`
	Cooled  []lease.Cooldown `json:"c,omitempty"`
	Others  []lease.Other    `json:"o,omitempty"`
	Status  bool             `json:"s,omitempty"` // Others is told
}

// link is one end of a connection. Sending never blocks: what cannot be sent soon ends the connection.
type link struct {
	conn net.Conn
	out  chan any
	once sync.Once
	done chan struct{}
}

// sendFor bounds how long one message may take to leave.
const sendFor = 2 * time.Second

// outMost is how many messages may wait to be sent.
const outMost = 256

func newLink(conn net.Conn) *link {
	l := &link{conn: conn, out: make(chan any, outMost), done: make(chan struct{})}
	go l.write()
	return l
}

func (l *link) write() {
	enc := json.NewEncoder(l.conn)
	for {
		select {
		case m := <-l.out:
			if m == nil {
				l.close()
				return
			}
			if l.conn.SetWriteDeadline(time.Now().Add(sendFor)) != nil || enc.Encode(m) != nil { // whoever reads notices that it is closed
				l.close()
				return
			}
		case <-l.done:
			return
		}
	}
}

// send queues a message.
func (l *link) send(m any) {
	select {
	case l.out <- m:
	default:
		l.close()
	}
}

// finish closes the connection when everything was sent.
func (l *link) finish() { l.send(nil) }

func (l *link) close() {
	l.once.Do(func() {
		close(l.done)
		_ = l.conn.Close() // nothing more is wanted of it
	})
}

// read hands over each message until the connection ends.
func read[T any](l *link, take func(T)) error {
	s := bufio.NewScanner(l.conn)
	s.Buffer(make([]byte, 4096), lineMost)
	for s.Scan() {
		var m T
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			return fmt.Errorf("a message that cannot be read: %w", err)
		}
		take(m)
	}
	return s.Err()
}
