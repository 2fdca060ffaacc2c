package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	fmt.Println(build(context.Background(), os.Args[1], n))
}
