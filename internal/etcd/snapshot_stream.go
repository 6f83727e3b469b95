// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// hashSize is what a member appends to its database: the SHA-256 of it.
const hashSize = sha256.Size

// sectorSize is what the size of every database is a multiple of: a sector. With
// the hash at its end a snapshot is 32 bytes more, which is how etcd itself
// tells the two apart.
const sectorSize = 512

// snapshotStream is the raw stream of a member's Snapshot call.
type snapshotStream interface {
	Recv() (*pb.SnapshotResponse, error)
}

// received is what one stream delivered.
type received struct {
	// Size is bytes, with the hash at the end.
	Size int64
	// SHA256 is the hash that came with the database, and that fits it.
	SHA256 [hashSize]byte
	// StorageVersion is the version of the database's format, empty before 3.6.
	StorageVersion string
}

// streamError is a stream that ended early or lied: another member, or the same
// one a moment later, may do better. All other errors are of this machine.
type streamError struct{ err error }

func (e *streamError) Error() string { return e.err.Error() }
func (e *streamError) Unwrap() error { return e.err }

func badStream(format string, args ...any) error {
	return &streamError{fmt.Errorf(format, args...)}
}

// receive writes a stream to w and returns nil only if all of it came and is what
// the member hashed: a stream that was cut, even at a message's end, is an error.
//
// begin is told the size of the whole before the first byte is written, and may
// refuse; progress is told what has been written.
func receive(stream snapshotStream, w io.Writer, begin func(total int64) error, progress func(done, total int64)) (received, error) {
	in := incoming{w: w, hash: sha256.New()}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return in.end()
		}
		if err != nil {
			return received{}, badStream("%w (after %d of %d bytes)", err, in.done, in.total)
		}
		if in.total == 0 {
			if err := in.begin(resp, begin); err != nil {
				return received{}, err
			}
		}
		if err := in.add(resp); err != nil {
			return received{}, err
		}
		progress(in.done, in.total)
	}
}

// incoming is a snapshot that is coming in: a database of the announced size, and
// its hash.
type incoming struct {
	w    io.Writer
	hash hash.Hash
	// total is bytes with the hash, 0 before the first message; done is those written.
	total, done int64
	trailer     []byte
	version     string
}

// begin reads the size of the whole off the first message, which etcd doesn't
// send otherwise.
func (in *incoming) begin(first *pb.SnapshotResponse, accept func(total int64) error) error {
	database := int64(first.RemainingBytes) + int64(len(first.Blob)) //nolint:gosec // checked in the next line
	if database <= 0 || database%sectorSize != 0 {
		return badStream("the member announced a database of %d bytes, which can't be", database)
	}
	in.total, in.version = database+hashSize, first.Version
	return accept(in.total)
}

func (in *incoming) add(resp *pb.SnapshotResponse) error {
	blob, database := resp.Blob, in.total-hashSize
	if in.done+int64(len(blob)) > in.total {
		return badStream("the member sent more than the %d bytes that it had announced", in.total)
	}
	n, err := in.w.Write(blob)
	if err != nil {
		return fmt.Errorf("write snapshot, %d of %d bytes written: %w", in.done+int64(n), in.total, err)
	}
	data := blob[:min(int64(len(blob)), max(0, database-in.done))]
	in.hash.Write(data) // never fails
	in.trailer = append(in.trailer, blob[len(data):]...)
	in.done += int64(len(blob))
	if left := max(0, database-in.done); resp.RemainingBytes != uint64(left) {
		return badStream("after %d of %d bytes the member has %d left to send, not %d", in.done, in.total, resp.RemainingBytes, left)
	}
	return nil
}

// end judges the whole once the member has ended the stream.
func (in *incoming) end() (received, error) {
	if in.total == 0 {
		return received{}, badStream("the member ended the stream before it sent anything")
	}
	if in.done < in.total {
		return received{}, badStream("the stream ended after %d of %d bytes", in.done, in.total)
	}
	out := received{Size: in.total, StorageVersion: in.version}
	if sum := in.hash.Sum(nil); string(sum) != string(in.trailer) {
		return received{}, badStream("what came has the SHA-256 %x, the member sent %x", sum, in.trailer)
	}
	copy(out.SHA256[:], in.trailer)
	return out, nil
}
