// Command pause keeps a pod's namespaces alive: it reaps children and ends on a signal.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// kubeadm's health check of an upgrade runs the image with -v and wants success.
	if len(os.Args) > 1 && os.Args[1] == "-v" {
		fmt.Println("pause of the test bed")
		return
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGINT, syscall.SIGTERM)
	children := make(chan os.Signal, 16)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		select {
		case <-ends:
			return
		case <-children:
			reap()
		}
	}
}

func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 || err != nil {
			return
		}
	}
}
