package storage

import (
	"context"
	"errors"
	"fmt"
)

// helper is what the second process does.
func helper(role, path string) error {
	ctx := context.Background()
	switch role {
	case "own": // prints whether it got the run, then waits for the end of its input
		s, err := Open(ctx, path, Options{})
		if err != nil {
			return err
		}
		_, err = s.Own(ctx, 1)
		switch {
		case errors.Is(err, ErrHeld):
			fmt.Println("held")
		case err != nil:
			return err
		default:
			fmt.Println("owned")
		}
		fmt.Scanln()
		return s.Close()
	}
	return errors.New("unknown role " + role)
}
