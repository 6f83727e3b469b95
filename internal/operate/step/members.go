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
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// SaveSnapshot saves a snapshot of a member to a file of this machine.
type SaveSnapshot struct{ Target, File string }

// Command implements Action.
func (s SaveSnapshot) Command(f Flags) string {
	return f.Plugin("snapshot save %s %s", s.Target, format.Quote(s.File))
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
	return f.Plugin("cut-client-traffic %s --for %s --reason restore --allow-residual --detach -y", t.Target, policy.Duration(t.Length))
}

// Do implements Action.
func (t CutTraffic) Do(ctx context.Context, c Clients) error { return c.Etcd.CutTraffic(ctx, t.Length) }

// RestoreTraffic lets the clients of a cluster in.
type RestoreTraffic struct {
	Target string
	// Ends are the ends of a cut from before the plan, by the names of the Services. These stay cut until
	// then, unless it has passed.
	Ends map[string]time.Time
	// Open are the Services that were not cut before the plan. Do finds them itself.
	Open []string
}

// Command implements Action. restore-client-traffic restores all Services, so it is only for the time when all ends
// have passed.
func (t RestoreTraffic) Command(f Flags) string {
	all := f.Plugin("restore-client-traffic %s -y", t.Target)
	if len(t.Ends) == 0 {
		return all
	}
	var leave []string
	last := slices.MaxFunc(slices.Collect(maps.Values(t.Ends)), time.Time.Compare)
	for _, name := range slices.Sorted(maps.Keys(t.Ends)) {
		end := t.Ends[name]
		keep := patchCut(f, name, fmt.Sprintf(`"%s%d"`, v1alpha1.ClientTrafficPrefix, end.Unix()))
		if end.Equal(last) {
			leave = append(leave, keep)
		} else {
			leave = append(leave, unlessPassed(end, []string{keep}, open(f, name)))
		}
	}
	for _, name := range slices.Sorted(slices.Values(t.Open)) {
		leave = append(leave, open(f, name)...)
	}
	return unlessPassed(last, leave, []string{all})
}

// patchCut writes the end of a cut of one Service, null for none.
func patchCut(f Flags, service, end string) string {
	return f.kubectl("patch service/%s --type merge -p %s", service, format.Quote(fmt.Sprintf(`{"spec":{"selector":{"%s":%s}}}`, v1alpha1.ClientTrafficKey, end)))
}

// open ends the cut of one Service. etcd-webhook only accepts the removal of a cut that has ended.
func open(f Flags, service string) []string {
	return []string{patchCut(f, service, `"`+v1alpha1.ClientTrafficPrefix+`0"`), patchCut(f, service, "null")}
}

// unlessPassed returns a condition of a shell.
func unlessPassed(end time.Time, before, after []string) string {
	indent := func(commands []string) string {
		return "  " + strings.ReplaceAll(strings.Join(commands, "\n"), "\n", "\n  ")
	}
	return fmt.Sprintf("if [ \"$(date +%%s)\" -lt %d ]; then\n%s\nelse\n%s\nfi", end.Unix(), indent(before), indent(after))
}

// Do implements Action.
func (t RestoreTraffic) Do(ctx context.Context, c Clients) error {
	return c.Etcd.RestoreTraffic(ctx, t.Ends)
}

// Agree checks that all members of a cluster have the same data. It disarms NOSPACE if there is enough space.
type Agree struct {
	Target string
	// Size is the number of members. Revision is the least revision that they must have.
	Size     int
	Revision int64
	// Disarm means that the data has the alarm NOSPACE.
	Disarm bool
	// Unready means that no step before has waited until the members are ready, and that AwaitReady follows.
	Unready bool
}

// Command implements Action. A person compares the revision. status and check fail while an alarm is in force, or while
// a member is not ready, so the command of AwaitReady has them if that follows.
func (a Agree) Command(f Flags) string {
	var commands []string
	if a.Unready {
		commands = append(commands, fmt.Sprintf("for attempt in $(seq %d); do %s >/dev/null && break; sleep 5; done", int(startTimeout.Seconds())/5, f.Plugin("member list %s", a.Target)))
	}
	if a.Disarm {
		commands = append(commands, f.Plugin("alarm disarm %s -y", a.Target))
	}
	if !a.Unready {
		commands = append(commands, show(f, a.Target))
	}
	return strings.Join(commands, "\n")
}

// show returns the commands that show whether a cluster is healthy.
func show(f Flags, target string) string {
	return f.Plugin("status %s", target) + "\n" + f.Plugin("check %s", target)
}

// agreeTimeout is how long the members have to find each other, and startTimeout is how long, if no step has waited
// until they are ready.
const (
	agreeTimeout = 5 * time.Minute
	startTimeout = 10 * time.Minute
)

// Do implements Action.
func (a Agree) Do(ctx context.Context, c Clients) error {
	limit := agreeTimeout
	if a.Unready {
		limit = startTimeout
	}
	var waiting error
	err := c.poll(ctx, limit, "the members to agree", func() (_ bool, err error) {
		waiting, err = c.Etcd.Agree(ctx, a.Size, a.Revision)
		return err == nil && waiting == nil, err
	})
	if err != nil && waiting != nil {
		return fmt.Errorf("%w: %w", err, waiting)
	}
	return err
}
