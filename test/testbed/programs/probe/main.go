// Command probe is the server and the client of service tests.
//
//	probe serve [:8080]            answers every request with its host name and the path
//	probe get URL [seconds]        prints the body; tries again until a 200 comes, exit code 1 when none came in time
//	probe resolve NAME             prints the addresses of a name
//	probe sleep                    does nothing until it is ended
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	command := argument(args, 0, "serve")
	switch command {
	case "serve":
		return serve(argument(args, 1, ":8080"))
	case "get":
		return get(argument(args, 1, ""), argument(args, 2, "10"))
	case "resolve":
		return resolve(argument(args, 1, ""))
	case "sleep":
		wait()
		return nil
	}
	return fmt.Errorf("unknown command %q", command)
}

func argument(args []string, index int, fallback string) string {
	if index < len(args) {
		return args[index]
	}
	return fallback
}

func wait() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGINT, syscall.SIGTERM)
	<-ends
}

func serve(address string) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s\n", name, r.URL.Path)
	})}
	go server.Serve(listener)
	wait()
	return server.Close()
}

// get tries again until the time is over: a Service takes a moment to reach every node.
func get(url, seconds string) error {
	limit, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(limit*float64(time.Second)))
	defer cancel()
	for {
		body, err := getOnce(ctx, url)
		if err == nil {
			_, err = os.Stdout.Write(body)
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func getOnce(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Timeout: 3 * time.Second}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

func resolve(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(addresses, "\n"))
	return nil
}
