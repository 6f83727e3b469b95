// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Database returns a database of etcd without keys, and without the hash that a snapshot has. It has alarms of a member.
func Database(t *testing.T, alarms ...pb.AlarmType) []byte {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "db"), 0o600, &bbolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range []string{"alarm", "auth", "cluster", "key", "lease", "members", "meta"} {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		for _, alarm := range alarms {
			key, err := proto.Marshal(&pb.AlarmMember{MemberID: 77, Alarm: alarm})
			if err == nil {
				err = tx.Bucket([]byte("alarm")).Put(key, nil)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = db.View(func(tx *bbolt.Tx) error { _, err := tx.WriteTo(&b); return err })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Snapshot sends the database of the cluster and its hash.
func (m *member) Snapshot(_ *pb.SnapshotRequest, stream grpc.ServerStreamingServer[pb.SnapshotResponse]) error {
	if err := m.cluster.NoUser; err != nil {
		return err
	}
	db := m.cluster.Database
	if db == nil {
		return status.Error(codes.Unimplemented, "the test has no database")
	}
	sum := sha256.Sum256(db)
	if err := stream.Send(&pb.SnapshotResponse{Header: m.header(), Blob: db}); err != nil {
		return err
	}
	return stream.Send(&pb.SnapshotResponse{Header: m.header(), Blob: sum[:]})
}
