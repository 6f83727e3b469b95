// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// hashSize is the size of the SHA-256 that a member appends to its database.
const hashSize = sha256.Size

// sectorSize divides the size of every database. A snapshot with a hash is 32 bytes
// longer, and etcd itself recognizes it by that.
const sectorSize = 512

// responseStream is the stream of a member's Snapshot call.
type responseStream interface {
	Recv() (*pb.SnapshotResponse, error)
}

// received describes the snapshot that one stream delivered.
type received struct {
	// Size is in bytes and includes the hash at the end.
	Size int64
	// SHA256 is the hash that the member sent, and that matches the database.
	SHA256 [hashSize]byte
	// StorageVersion is the version of the database's format, empty before etcd 3.6.
	StorageVersion string
}

// streamError is the error of a stream that broke or was inconsistent. A retry, of the same
// member or another one, may succeed. All other errors come from this machine.
type streamError struct{ err error }

func (e *streamError) Error() string { return e.err.Error() }
func (e *streamError) Unwrap() error { return e.err }

func badStream(format string, args ...any) error {
	return &streamError{fmt.Errorf(format, args...)}
}

// receive writes a stream to w. It returns an error unless the stream is complete and
// matches the member's hash. A stream that ends early, even between two messages, is an
// error.
//
// begin is called with the total size before the first byte is written and can refuse it.
// progress is called with the number of bytes written and the total.
func receive(stream responseStream, w io.Writer, begin func(total int64) error, progress func(done, total int64)) (received, error) {
	in := incoming{w: w, hash: sha256.New()}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return in.end()
		}
		if err != nil && in.done == 0 {
			return received{}, &streamError{err}
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

// incoming is the state of a stream: a database of the announced size, then its hash.
type incoming struct {
	w    io.Writer
	hash hash.Hash
	// total is the size in bytes with the hash, 0 before the first message. done is the
	// number of bytes written.
	total, done int64
	trailer     []byte
	version     string
}

// begin takes the total size from the first message. etcd sends it in no other way.
func (in *incoming) begin(first *pb.SnapshotResponse, accept func(total int64) error) error {
	database := int64(first.RemainingBytes) + int64(len(first.Blob)) //nolint:gosec // checked in the next line
	if database <= 0 || database%sectorSize != 0 {
		return badStream("the member announced a database of %d bytes, which is not a valid size", database)
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
		return badStream("after %d of %d bytes the member reports %d bytes left, not %d", in.done, in.total, resp.RemainingBytes, left)
	}
	return nil
}

// end verifies the snapshot when the member has ended the stream.
func (in *incoming) end() (received, error) {
	if in.total == 0 {
		return received{}, badStream("the member ended the stream before it sent any data")
	}
	if in.done < in.total {
		return received{}, badStream("the stream ended after %d of %d bytes", in.done, in.total)
	}
	out := received{Size: in.total, StorageVersion: in.version}
	if sum := in.hash.Sum(nil); string(sum) != string(in.trailer) {
		return received{}, badStream("the received data has the SHA-256 %x, the member sent %x", sum, in.trailer)
	}
	copy(out.SHA256[:], in.trailer)
	return out, nil
}
