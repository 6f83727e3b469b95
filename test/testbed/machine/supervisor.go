// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// restartDelay is how long a program that ended by itself stays down.
	restartDelay = time.Second
	// stopGrace is how long a program may take to end after a request.
	stopGrace = 15 * time.Second
	// containerGrace is the same for all that still runs at shutdown.
	containerGrace = 5 * time.Second
)

// supervisor keeps a machine's programs running. It is process 1: it also
// reaps every orphan.
type supervisor struct {
	spec *Spec
	log  io.Writer

	mu       sync.Mutex
	programs []*program
	byPid    map[int]*program
}

// program is one Process and what became of it. The supervisor's mutex guards
// the fields.
type program struct {
	Process
	wanted   bool
	life     int           // counts changes of wanted, so that a keep outlives none
	pid      int           // 0 while it is down
	ended    chan struct{} // closed when pid has ended
	starts   int           // since it was last wanted: all but the first are restarts
	lastExit string
}

func newSupervisor(s *Spec) *supervisor {
	v := &supervisor{spec: s, log: os.Stderr, byPid: map[int]*program{}}
	for _, p := range s.Processes {
		v.programs = append(v.programs, &program{Process: p})
	}
	go v.reap()
	for _, p := range v.programs {
		v.want(p)
	}
	return v
}

// want starts the program and keeps it running until stop.
func (v *supervisor) want(p *program) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !p.wanted {
		p.wanted, p.starts = true, 0
		p.life++
		go v.keep(p, p.life)
	}
}

func (v *supervisor) keep(p *program, life int) {
	for v.isWanted(p, life) {
		if !haveAll(p.WaitFor) {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		ended, err := v.start(p, life)
		if err != nil {
			fmt.Fprintf(v.log, "start %s: %v\n", p.Name, err)
		}
		if ended != nil {
			<-ended
		}
		time.Sleep(restartDelay)
	}
}

func (v *supervisor) isWanted(p *program, life int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return p.wanted && p.life == life
}

// start starts the program once. The lock is held until its id is known, so
// that reap can't see its end before.
func (v *supervisor) start(p *program, life int) (<-chan struct{}, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !p.wanted || p.life != life {
		return nil, nil
	}
	log, err := os.OpenFile(v.spec.Log(p.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	process, err := os.StartProcess(p.Args[0], p.Args, &os.ProcAttr{
		Dir: "/", Env: append(os.Environ(), p.Env...), Files: []*os.File{null, log, log}, Sys: &unix.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	p.pid, p.ended = process.Pid, make(chan struct{})
	p.starts++
	v.byPid[p.pid] = p
	return p.ended, process.Release()
}

// reap collects every child that ends, adopted orphans included.
func (v *supervisor) reap() {
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	for range children {
		for {
			var status unix.WaitStatus
			pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
			if err != nil || pid <= 0 {
				break
			}
			v.ended(pid, status)
		}
	}
}

func (v *supervisor) ended(pid int, status unix.WaitStatus) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.byPid[pid]
	if p == nil {
		return
	}
	delete(v.byPid, pid)
	p.pid, p.lastExit = 0, fmt.Sprintf("exit code %d", status.ExitStatus())
	if status.Signaled() {
		p.lastExit = status.Signal().String()
	}
	if p.wanted {
		fmt.Fprintf(v.log, "%s ended: %s\n", p.Name, p.lastExit)
	}
	close(p.ended)
}

// stop ends the program and keeps it down: with the signal, and by force when
// that takes too long.
func (v *supervisor) stop(p *program, with unix.Signal) {
	v.mu.Lock()
	p.wanted = false
	pid, ended := p.pid, p.ended
	if pid != 0 {
		_ = unix.Kill(pid, with)
	}
	v.mu.Unlock()
	if pid == 0 {
		return
	}
	select {
	case <-ended:
	case <-time.After(cmp.Or(p.Grace, stopGrace)):
		_ = unix.Kill(pid, unix.SIGKILL)
		<-ended
	}
}

// shutdown ends everything in the machine as a computer's shutdown does: its
// programs in reverse order, then, asked first, whatever is left.
func (v *supervisor) shutdown() {
	for _, p := range slices.Backward(v.programs) {
		v.stop(p, unix.SIGTERM)
	}
	_ = unix.Kill(-1, unix.SIGTERM)
	for deadline := time.After(containerGrace); ; {
		if others, _ := filepath.Glob("/proc/[0-9]*"); len(others) <= 1 {
			break
		}
		select {
		case <-deadline:
			_ = unix.Kill(-1, unix.SIGKILL)
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// serve takes orders until the machine receives the order to shut down.
func (v *supervisor) serve(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGTERM, unix.SIGINT)
	defer stop()
	return v.listen(ctx, stop)
}
