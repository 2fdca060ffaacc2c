package share

import (
	"errors"
	"net"
)

// place is where processes find each other.
type place interface {
	// dial reaches the holder. An error: there is none, or it does not answer.
	dial() (net.Conn, error)
	// hold takes the lock and starts to listen; errHeld: somebody else has it.
	hold() (seat, error)
}

// seat is the lock, held, and the socket.
type seat interface {
	accept() (net.Conn, error) // an error: the seat was left
	// before is how many processes the last holder knew of, itself included; zero: it left in order, or there was none.
	before() int
	// note keeps how many processes there are, for the next holder.
	note(processes int) error
	// leave frees the lock. alone: nobody else is there, and nothing is to be left behind.
	leave(alone bool) error
}

var errHeld = errors.New("another process holds the lock")
