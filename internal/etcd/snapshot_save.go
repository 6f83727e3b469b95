// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// defaultIdle is how long a stream may bring nothing. A member that was asked
// reads from its disk at once; longer is a connection that died unnoticed.
const defaultIdle = 30 * time.Second

// SnapshotSource is a member that can be asked for a snapshot.
type SnapshotSource struct {
	Pod string
	// Open makes a connection for this stream alone: a port-forward has no flow
	// control, and what shares it waits behind every byte. Closed by the caller.
	Open func(ctx context.Context) (grpc.ClientConnInterface, io.Closer, error)
	// Describe returns an error of the connection or of the member with a message for
	// users. Where it is nil, such errors keep their own message.
	Describe func(error) error
}

// failed returns the error of a stream that broke.
func (s SnapshotSource) failed(err error) *streamError {
	if s.Describe != nil {
		err = s.Describe(err)
	}
	return &streamError{err}
}

// describedStream is a stream whose errors have a message for users.
type describedStream struct {
	snapshotStream

	source SnapshotSource
}

func (s describedStream) Recv() (*pb.SnapshotResponse, error) {
	response, err := s.snapshotStream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.source.failed(err)
	}
	return response, err
}

// SnapshotSave says how a snapshot is fetched.
type SnapshotSave struct {
	// Sources are asked in turn until one delivers; at least one.
	Sources []SnapshotSource
	// Retries is how often to begin again: a stream can't be resumed.
	Retries int
	// Idle is how long a stream may bring nothing; 0 means 30 s.
	Idle time.Duration
	// Begin is told what is fetched from where before the first byte is written.
	// It may be nil, as may the others below.
	Begin func(pod string, total int64)
	// Progress is told how many bytes are written.
	Progress func(done int64)
	// Verifying is called when all has come and is being checked.
	Verifying func()
	// Again is told why a transfer failed that is now tried again.
	Again func(pod string, err error)
}

// Saved is a snapshot that has come whole.
type Saved struct {
	// Pod is the member that it is of.
	Pod string
	// Size is bytes, with the hash at the end; SHA256 is of what is before it.
	Size   int64
	SHA256 [hashSize]byte
	// StorageVersion is what the member said, empty before 3.6.
	StorageVersion string
	// Attempts is how many transfers it took, Transfer how long the last one
	// did, with the file made durable.
	Attempts int
	Transfer time.Duration
	// Verify is how long the checks of the file took; zero for a stream.
	Verify time.Duration
	// Content is what the database holds; nil for a stream, which can't be read.
	Content *SnapshotContent
}

// ToWriter sends a snapshot to a writer. What was written before an error is no
// snapshot, and can't be taken back: there are no retries once it has begun.
func (s SnapshotSave) ToWriter(ctx context.Context, w io.Writer) (Saved, error) {
	buffered := bufio.NewWriterSize(w, 1<<20)
	begun := false
	return s.retry(ctx, func() bool { return !begun }, func(ctx context.Context, src SnapshotSource) (Saved, error) {
		got, took, err := s.transfer(ctx, src, buffered, func(int64) error { begun = true; return nil }, buffered.Flush)
		return Saved{Size: got.Size, SHA256: got.SHA256, StorageVersion: got.StorageVersion, Transfer: took}, err
	})
}

// ToFile writes a snapshot to a file that has its name only once it is whole,
// checked and durable. An existing file is replaced with replace, else refused.
//
// describe returns what is written beside it, in a file with .json behind the
// name, nil for nothing.
func (s SnapshotSave) ToFile(ctx context.Context, path string, replace bool, describe func(Saved) ([]byte, error)) (Saved, error) {
	part, err := createPart(path, replace)
	if err != nil {
		return Saved{}, err
	}
	defer part.discard()
	record, err := createPart(path+recordSuffix, replace)
	if err != nil {
		return Saved{}, err
	}
	defer record.discard()
	out, err := s.retry(ctx, func() bool { return true }, func(ctx context.Context, src SnapshotSource) (Saved, error) {
		return s.toPart(ctx, src, part)
	})
	if err != nil {
		return Saved{}, err
	}
	text, err := describe(out)
	if err != nil {
		return Saved{}, err
	}
	// Whoever was told to stop leaves nothing that looks as if it had been wanted.
	if err := context.Cause(ctx); err != nil {
		return Saved{}, err
	}
	if text == nil {
		return out, part.commit(replace)
	}
	if err := record.fill(text); err != nil {
		return Saved{}, err
	}
	// The snapshot first: a record of what isn't there would be a lie.
	if err := part.commit(replace); err != nil {
		return Saved{}, err
	}
	if err := record.commit(replace); err != nil {
		return Saved{}, fmt.Errorf("%s is saved and verified, but what describes it is not: %w", path, err)
	}
	return out, nil
}

// recordSuffix ends the name of what describes a snapshot.
const recordSuffix = ".json"

// toPart is one attempt: transfer, make durable, check.
func (s SnapshotSave) toPart(ctx context.Context, src SnapshotSource, part *partFile) (Saved, error) {
	if err := part.restart(); err != nil {
		return Saved{}, err
	}
	room := func(total int64) error { return enoughSpace(part.final, total) }
	early := newEarlyWriter(part.File)
	got, took, err := s.transfer(ctx, src, early, room, part.Sync)
	early.close()
	if err != nil {
		return Saved{}, full(err, part.final)
	}
	if s.Verifying != nil {
		s.Verifying()
	}
	start := time.Now() //nolint:forbidigo // how long something took
	if err := part.share(); err != nil {
		return Saved{}, err
	}
	content, err := inspectDatabase(ctx, part, part.Name(), got.Size)
	if corrupt, ok := errors.AsType[*CorruptError](err); ok {
		return Saved{}, badStream("the database of %s is damaged, though it came as the member sent it: %s; another member's may not be", src.Pod, corrupt.Problem)
	}
	if err != nil {
		return Saved{}, err
	}
	return Saved{
		Size: got.Size, SHA256: got.SHA256, StorageVersion: got.StorageVersion, Content: &content,
		Transfer: took, Verify: time.Since(start),
	}, nil
}

// transfer runs one stream into w, and ends it when nothing comes.
func (s SnapshotSave) transfer(ctx context.Context, src SnapshotSource, w io.Writer, begin func(int64) error, sync func() error) (received, time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := s.Idle
	if idle == 0 {
		idle = defaultIdle
	}
	watchdog := time.AfterFunc(idle, func() {
		cancel(badStream("nothing came for %s", idle))
	})
	defer watchdog.Stop()
	start := time.Now() //nolint:forbidigo // how long something took
	conn, closer, err := src.Open(ctx)
	if err != nil {
		return received{}, 0, causeOf(ctx, src.failed(err))
	}
	defer closer.Close()
	stream, err := pb.NewMaintenanceClient(conn).Snapshot(ctx, &pb.SnapshotRequest{})
	if err != nil {
		return received{}, 0, causeOf(ctx, src.failed(err))
	}
	last := int64(-1)
	got, err := receive(describedStream{stream, src}, w, func(total int64) error {
		if s.Begin != nil {
			s.Begin(src.Pod, total)
		}
		return begin(total)
	}, func(done, _ int64) {
		if done > last { // messages without bytes are no sign of life
			last = done
			watchdog.Reset(idle)
		}
		if s.Progress != nil {
			s.Progress(done)
		}
	})
	if err != nil {
		return received{}, 0, causeOf(ctx, err)
	}
	watchdog.Stop()
	if err := sync(); err != nil {
		return received{}, 0, fmt.Errorf("make the snapshot durable: %w", err)
	}
	return got, time.Since(start), causeOf(ctx, nil)
}

// causeOf is why the context ended, where it did, else the error: that a stream
// was cancelled says less.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// retryPause is what a member gets before it is asked again.
const retryPause = time.Second

func (s SnapshotSave) retry(ctx context.Context, may func() bool, attempt func(context.Context, SnapshotSource) (Saved, error)) (Saved, error) {
	if len(s.Sources) == 0 {
		return Saved{}, errors.New("no member to take a snapshot of")
	}
	for n := 0; ; n++ {
		src := s.Sources[n%len(s.Sources)]
		out, err := attempt(ctx, src)
		if err == nil {
			out.Pod, out.Attempts = src.Pod, n+1
			return out, nil
		}
		err = fmt.Errorf("snapshot of %s: %w", src.Pod, err)
		var stream *streamError
		if !errors.As(err, &stream) || ctx.Err() != nil || !may() {
			return Saved{}, err
		}
		if n >= s.Retries {
			if n > 0 {
				err = fmt.Errorf("%w (the last of %d attempts)", err, n+1)
			}
			return Saved{}, err
		}
		if s.Again != nil {
			s.Again(src.Pod, err)
		}
		select {
		case <-ctx.Done():
			return Saved{}, context.Cause(ctx)
		case <-time.After(retryPause):
		}
	}
}

// enoughSpace refuses what can't fit, before it fills the disk for everybody else.
func enoughSpace(final string, total int64) error {
	dir := filepath.Dir(final)
	free, err := freeSpace(dir)
	if err != nil {
		return nil //nolint:nilerr // not every file system tells; writing will
	}
	if free < total {
		return fmt.Errorf("the snapshot has %d bytes and %s has room for %d: make room, or choose another directory", total, dir, free)
	}
	return nil
}
