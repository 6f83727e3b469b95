// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

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

// DefaultIdle is how long a stream may deliver no bytes. A member reads a snapshot from
// its disk without delay, so that a longer pause means that the connection is lost.
const DefaultIdle = 30 * time.Second

// Source is a member that serves snapshots.
type Source struct {
	Pod string
	// Open returns a connection for this stream alone, which the caller closes. A
	// port-forward has no flow control: another call on the same connection would wait
	// for all bytes of the stream.
	Open func(ctx context.Context) (grpc.ClientConnInterface, io.Closer, error)
	// Describe returns an error of the connection or of the member with a message for
	// users. Where it is nil, such errors keep their own message.
	Describe func(error) error
	// Denied reports whether an error is a refusal of the user, which any other member would repeat. It may be nil.
	Denied func(error) bool
}

// failed returns the error of a stream that broke.
func (s Source) failed(err error) *streamError {
	if s.Describe != nil {
		err = s.Describe(err)
	}
	return &streamError{err}
}

// describedStream is a stream whose errors have a message for users.
type describedStream struct {
	responseStream

	source Source
}

func (s describedStream) Recv() (*pb.SnapshotResponse, error) {
	response, err := s.responseStream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.source.failed(err)
	}
	return response, err
}

// Saver fetches a snapshot.
type Saver struct {
	// Sources are tried in turn until one delivers. There must be at least one.
	Sources []Source
	// Retries is how many times a failed transfer is repeated. A stream can't be
	// resumed, so each attempt starts from the first byte.
	Retries int
	// Idle is how long a stream may deliver no bytes; 0 means 30 s.
	Idle time.Duration
	// Begin is called with the source and the size before the first byte is written.
	// It may be nil, as may the functions below.
	Begin func(pod string, total int64)
	// Progress is called with the number of bytes written so far.
	Progress func(done int64)
	// Verifying is called when the transfer is complete and the check begins.
	Verifying func()
	// Again is called with the error of a transfer that is about to be repeated.
	Again func(pod string, err error)
}

// Saved describes a complete snapshot.
type Saved struct {
	// Pod is the member that served it.
	Pod string
	// Size is in bytes and includes the hash at the end; SHA256 is the hash of what
	// precedes it.
	Size   int64
	SHA256 [hashSize]byte
	// StorageVersion is the version that the member reported, empty before etcd 3.6.
	StorageVersion string
	// Attempts is the number of transfers. Transfer is the duration of the last one,
	// including the time to make the file durable.
	Attempts int
	Transfer time.Duration
	// Verify is the duration of the checks of the file, zero for a writer.
	Verify time.Duration
	// Content is what the database contains, nil for a writer, which can't be read.
	Content *Content
}

// ToWriter writes a snapshot to w. Output that precedes an error is not a valid snapshot.
// Since it can't be withdrawn, ToWriter retries only until the first byte is written.
func (s Saver) ToWriter(ctx context.Context, w io.Writer) (Saved, error) {
	buffered := bufio.NewWriterSize(w, 1<<20)
	begun := false
	return s.retry(ctx, func() bool { return !begun }, func(ctx context.Context, src Source) (Saved, error) {
		got, took, err := s.transfer(ctx, src, buffered, func(int64) error { begun = true; return nil }, buffered.Flush)
		return Saved{Size: got.Size, SHA256: got.SHA256, StorageVersion: got.StorageVersion, Transfer: took}, err
	})
}

// ToFile writes a snapshot to a file, which gets its name only when it is complete,
// verified and durable. With replace it replaces an existing file, otherwise it fails.
//
// describe returns the content of a second file whose name has the suffix .json, nil for
// no such file.
func (s Saver) ToFile(ctx context.Context, path string, replace bool, describe func(Saved) ([]byte, error)) (Saved, error) {
	return toFile(ctx, path, replace, describe, func(part *partFile) (Saved, error) {
		return s.retry(ctx, func() bool { return true }, func(ctx context.Context, src Source) (Saved, error) {
			return s.toPart(ctx, src, part)
		})
	})
}

// toFile makes a snapshot with a function that writes its temporary file.
func toFile(ctx context.Context, path string, replace bool, describe func(Saved) ([]byte, error), write func(*partFile) (Saved, error)) (Saved, error) {
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
	out, err := write(part)
	if err != nil {
		return Saved{}, err
	}
	text, err := describe(out)
	if err != nil {
		return Saved{}, err
	}
	// An interrupted save leaves no file that could be taken for a requested one.
	if err := context.Cause(ctx); err != nil {
		return Saved{}, err
	}
	if text == nil {
		return out, part.commit(replace)
	}
	if err := record.fill(text); err != nil {
		return Saved{}, err
	}
	// The snapshot comes first, so that no record describes a file that doesn't exist.
	if err := part.commit(replace); err != nil {
		return Saved{}, err
	}
	if err := record.commit(replace); err != nil {
		return Saved{}, fmt.Errorf("%s is saved and verified, but its description is not: %w", path, err)
	}
	return out, nil
}

// recordSuffix is the suffix of the file that describes a snapshot.
const recordSuffix = ".json"

// toPart makes one attempt: it transfers a snapshot into part, makes it durable and
// checks it.
func (s Saver) toPart(ctx context.Context, src Source, part *partFile) (Saved, error) {
	if err := part.restart(); err != nil {
		return Saved{}, err
	}
	room := func(total int64) error { return enoughSpace(part.final, total) }
	early := newWritebackHinter(part.File)
	got, took, err := s.transfer(ctx, src, early, room, part.Sync)
	early.close()
	if err != nil {
		return Saved{}, withFreeSpace(err, part.final)
	}
	if s.Verifying != nil {
		s.Verifying()
	}
	start := time.Now() //nolint:forbidigo // measures a duration
	if err := part.share(); err != nil {
		return Saved{}, err
	}
	content, err := inspectDatabase(ctx, part, part.Name(), got.Size)
	if corrupt, ok := errors.AsType[*CorruptError](err); ok {
		return Saved{}, badStream("the database of %s is corrupt, although the transfer was correct: %s; the database of another member may be intact", src.Pod, corrupt.Problem)
	}
	if err != nil {
		return Saved{}, err
	}
	return Saved{
		Size: got.Size, SHA256: got.SHA256, StorageVersion: got.StorageVersion, Content: &content,
		Transfer: took, Verify: time.Since(start),
	}, nil
}

// transfer copies one stream to w and cancels it when no bytes arrive for too long.
func (s Saver) transfer(ctx context.Context, src Source, w io.Writer, begin func(int64) error, sync func() error) (received, time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := s.Idle
	if idle == 0 {
		idle = DefaultIdle
	}
	watchdog := time.AfterFunc(idle, func() {
		cancel(badStream("no data arrived for %gs", idle.Seconds()))
	})
	defer watchdog.Stop()
	start := time.Now() //nolint:forbidigo // measures a duration
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
		if done > last { // a message without bytes is no progress
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

// causeOf returns why the context ended if it did, otherwise err. The cause is more
// specific than the error of a cancelled stream.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// retryPause is the pause between two transfers.
const retryPause = time.Second

// retry calls attempt with one source after the other, until one succeeds, the retries
// are used up, mayRetry returns false, or an error is not the stream's.
func (s Saver) retry(ctx context.Context, mayRetry func() bool, attempt func(context.Context, Source) (Saved, error)) (Saved, error) {
	if len(s.Sources) == 0 {
		return Saved{}, errors.New("no member can serve a snapshot")
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
		if !errors.As(err, &stream) || ctx.Err() != nil || !mayRetry() || src.Denied != nil && src.Denied(err) {
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

// enoughSpace returns an error if the snapshot doesn't fit, before it fills a disk that
// other programs use too.
func enoughSpace(final string, total int64) error {
	dir := filepath.Dir(final)
	free, err := freeSpace(dir)
	if err != nil {
		return nil //nolint:nilerr // some file systems don't report it; then the write fails
	}
	if free < total {
		return fmt.Errorf("the snapshot has %d bytes and %s has only %d bytes free: free some space, or choose another directory", total, dir, free)
	}
	return nil
}
