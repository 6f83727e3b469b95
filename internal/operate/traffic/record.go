// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// recordName is the name of the record on a cluster's lock that has a Record, as JSON.
const recordName = "client-traffic"

// Record is who cut a cluster's client traffic and why. Whether it is cut, and until when,
// only the Services show: a record outlives a cut that has expired.
type Record struct {
	// Services are the names of those that were cut.
	Services []string `json:"services"`
	// Until is the end that the user wanted.
	Until time.Time `json:"until"`
	// Holder is user, host and process; Reason is the user's own.
	Holder string `json:"holder"`
	Reason string `json:"reason,omitempty"`
}

// recordOf returns a cluster's record, nil if there is none.
func recordOf(ctx context.Context, kube client.Client, o owner.Owner) (*Record, error) {
	records, err := lock.ReadRecords(ctx, kube, o)
	if err != nil {
		return nil, fmt.Errorf("read who cut client traffic of %s: %w", o, err)
	}
	text, ok := records[recordName]
	if !ok {
		return nil, nil
	}
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("read who cut client traffic of %s: record %q of lease %s: %w", o, recordName, lock.Name(o), err)
	}
	return &r, nil
}

// WriteRecord writes the cluster's record under its lock. A nil record removes it.
func WriteRecord(ctx context.Context, l *lock.Lock, r *Record) error {
	if r == nil {
		return l.DeleteRecord(ctx, recordName)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return l.SetRecord(ctx, recordName, string(text))
}

// Recorded reports whether the lease of a lock has the record of a cut.
func Recorded(lease metav1.Object) bool {
	_, ok := lock.Records(lease)[recordName]
	return ok
}

// The operations on client traffic, as the locks of clusters name them.
const (
	CutOperation     = "cut-client-traffic"
	RestoreOperation = "restore-client-traffic"
)
