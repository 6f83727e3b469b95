// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// SaveSnapshot saves a snapshot of a member to a file of this machine.
type SaveSnapshot struct{ Target, File string }

// Command implements Action.
func (s SaveSnapshot) Command(f Flags) string {
	return f.Plugin("snapshot save %s %s", s.Target, Quote(s.File))
}

// Do implements Action.
func (s SaveSnapshot) Do(ctx context.Context, c Clients) error { return c.Etcd.Save(ctx, s.File) }

// CutTraffic keeps clients away from a cluster.
type CutTraffic struct {
	Target string
	Length time.Duration
}

// Command implements Action. The plan itself restores the traffic.
func (t CutTraffic) Command(f Flags) string {
	return f.Plugin("cut-client-traffic %s --for %s --reason restore --allow-residual --detach -y", t.Target, strings.TrimSuffix(t.Length.String(), "0m0s"))
}

// Do implements Action.
func (t CutTraffic) Do(ctx context.Context, c Clients) error { return c.Etcd.CutTraffic(ctx, t.Length) }

// RestoreTraffic lets the clients of a cluster in.
type RestoreTraffic struct {
	Target string
	// Ends are the ends of a cut from before the plan, by the names of the Services. These stay cut until
	// then.
	Ends map[string]time.Time
}

// Command implements Action.
func (t RestoreTraffic) Command(f Flags) string {
	if len(t.Ends) == 0 {
		return f.Plugin("restore-client-traffic %s -y", t.Target)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(t.Ends)) {
		body := fmt.Sprintf(`{"spec":{"selector":{"%s":"%s%d"}}}`, v1alpha1.ClientTrafficKey, v1alpha1.ClientTrafficPrefix, t.Ends[name].Unix())
		lines = append(lines, f.kubectl("patch service/%s --type merge -p %s", name, Quote(body)))
	}
	return strings.Join(lines, "\n")
}

// Do implements Action.
func (t RestoreTraffic) Do(ctx context.Context, c Clients) error {
	return c.Etcd.RestoreTraffic(ctx, t.Ends)
}

// Agree checks that all members of a cluster have the same data.
type Agree struct {
	Target string
	// Size is the number of members. Revision is the least revision that they must have.
	Size     int
	Revision int64
}

// Command implements Action. A person compares the revision.
func (a Agree) Command(f Flags) string {
	return f.Plugin("status %s", a.Target) + "\n" + f.Plugin("check %s", a.Target)
}

// agreeTimeout is how long the members have to find each other.
const agreeTimeout = 5 * time.Minute

// Do implements Action.
func (a Agree) Do(ctx context.Context, c Clients) error {
	var waiting error
	err := c.poll(ctx, agreeTimeout, "the members to agree", func() (_ bool, err error) {
		waiting, err = c.Etcd.Agree(ctx, a.Size, a.Revision)
		return err == nil && waiting == nil, err
	})
	if err != nil && waiting != nil {
		return fmt.Errorf("%w: %w", err, waiting)
	}
	return err
}
