// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package backupstore reads where a cluster's backups are stored, and what its leases and snapshot tasks show of them.
package backupstore

import (
	"cmp"
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// Store is where a cluster's backups are stored, and how to reach the program that takes
// them.
type Store struct {
	// Provider, Container (the bucket) and Prefix are the location.
	Provider, Container, Prefix string
	// Port is the port of etcd-backup-restore in every member's pod.
	Port int
	// ServerName is the name in its certificate, and CA are the authorities that sign it, in
	// PEM. CAErr is why CA can't be read. Without TLS all three are empty.
	ServerName string
	TLS        bool
	CA         []byte
	CAErr      error
}

// defaultPort is druid's port where spec.backup.port is not set.
const defaultPort = 8080

// Of reads where an Etcd's backups are stored. It returns false for a cluster without a
// store, and for one that isn't druid's.
func Of(ctx context.Context, r *observe.Reader, o owner.Owner) (Store, bool, error) {
	etcd, _, err := r.Etcd(ctx, o)
	if err != nil || etcd == nil || !etcd.IsBackupStoreEnabled() {
		return Store{}, false, err
	}
	store := etcd.Spec.Backup.Store
	out := Store{
		Provider: string(ptr.Deref(store.Provider, "")), Container: ptr.Deref(store.Container, ""), Prefix: store.Prefix,
		Port: int(cmp.Or(ptr.Deref(etcd.Spec.Backup.Port, 0), defaultPort)), ServerName: etcd.Name + "-local",
	}
	if tls := etcd.Spec.Backup.TLS; tls != nil {
		out.TLS = true
		out.CA, out.CAErr = authorities(ctx, r, o.Namespace, tls.TLSCASecretRef)
	}
	return out, true, nil
}

// authorities reads the authorities of backup-restore's certificate. Where no key is named, druid's
// own programs use different ones.
func authorities(ctx context.Context, r *observe.Reader, namespace string, ref druidv1alpha1.SecretReference) ([]byte, error) {
	data, err := podfiles.New(r, cmp.Or(ref.Namespace, namespace)).Secret(ctx, ref.Name)
	if err != nil {
		return nil, err
	}
	keys := []string{ptr.Deref(ref.DataKey, ""), "ca.crt", "bundle.crt"}
	for _, key := range keys {
		if len(data[key]) > 0 {
			return data[key], nil
		}
	}
	return nil, fmt.Errorf("secret %s/%s has none of the keys %q", namespace, ref.Name, keys)
}
