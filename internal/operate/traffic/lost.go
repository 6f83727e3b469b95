// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// LostError means that another client removed the cut of a Service before its end.
type LostError struct{ message string }

func (e *LostError) Error() string { return e.message }

// cutRead is what the Services have of the cut at one read.
type cutRead struct {
	// cut is true if any Service is cut, and gone if none exists.
	cut, gone bool
	// uncut has who last wrote the selectors of the Services that exist and are not cut, by name. It is empty for
	// unknown.
	uncut map[string]string
}

// readCut reads the Services again. It follows an end that another command has moved. A cut with an end that can't be
// read keeps clients away, too.
func (c *Cluster) readCut(ctx context.Context) (cutRead, error) {
	now := cutRead{gone: true, uncut: map[string]string{}}
	var last time.Time
	for _, name := range c.Names() {
		var s corev1.Service
		err := c.Kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &s)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return cutRead{}, fmt.Errorf("read Service %s: %w", name, err)
		}
		now.gone = false
		if !observe.IsCut(&s) {
			now.uncut[name], _ = operate.LastWriter(&s, "selector")
			continue
		}
		now.cut = true
		if until, has := observe.CutUntil(&s, c.now()); has && until.After(last) {
			last = until
		}
	}
	if !last.IsZero() && !last.Equal(c.until) {
		c.until = last
		c.Logf("Another command moved the end of the cut to %s", format.Time(last))
	}
	return now, nil
}

// uncut are the Services whose cut other clients have ended. Each is reported once.
type uncut struct {
	names []string
	// lost has a clause for each that a client other than this program has written: which it is, and who did.
	lost []string
}

// report reports each Service that is not cut any more.
func (c *Cluster) report(over *uncut, now cutRead) {
	for _, name := range c.Names() {
		by, is := now.uncut[name]
		if !is || slices.Contains(over.names, name) {
			continue
		}
		over.names = append(over.names, name)
		if by == kubeclient.FieldManager {
			if now.cut {
				c.Logf("Another command ended the cut of Service %s", name)
			}
			continue
		}
		wrote := "another client wrote"
		if by != "" {
			wrote = fmt.Sprintf("%q wrote", by)
		}
		wrote += fmt.Sprintf(" Service %s without it", name)
		over.lost = append(over.lost, wrote)
		if now.cut {
			c.Warnf("the cut is lost: %s. Its clients can connect. The other Services stay cut until %s.", wrote, format.Time(c.until))
		}
	}
}

// lost returns the error of a cut that has ended, nil if no client other than this program has removed it.
func (c *Cluster) lost(over uncut) error {
	if len(over.lost) == 0 {
		return nil
	}
	return &LostError{fmt.Sprintf("the cut of client traffic of %s was lost before its end: %s", c.Owner, strings.Join(over.lost, ", "))}
}
