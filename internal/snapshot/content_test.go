// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"hash/maphash"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// TestRegistry: keys of Kubernetes API servers are recognised by their prefix.
func TestRegistry(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"/registry/pods/team/a": true, "/registry": false, "/registryOther/a": false, "a/registry/b": false, "orders/1": false} {
		store := keyCount{seed: maphash.MakeSeed(), live: map[uint64]bool{}}
		for _, k := range []string{"first", key, "last"} {
			value, err := proto.Marshal(&mvccpb.KeyValue{Key: []byte(k)})
			if err != nil {
				t.Fatal(err)
			}
			if err := store.add(revision(7, ""), value); err != nil {
				t.Fatal(err)
			}
		}
		if store.registry != want {
			t.Errorf("%s: %t", key, store.registry)
		}
	}
}
