// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// saveOptions are those of snapshot save.
type saveOptions struct {
	member  string
	force   bool
	retries int
	idle    time.Duration
	via     snapshotVia
	change  change.Flags
}

// snapshotVia is the value of --via.
type snapshotVia string

const (
	viaMember  snapshotVia = "member"
	viaDefault snapshotVia = "backup-restore" // a full snapshot
	viaFull    snapshotVia = "backup-restore=full"
	viaDelta   snapshotVia = "backup-restore=delta"
)

func newSaveCommand(a *app.App) *cobra.Command {
	f := saveOptions{via: viaMember}
	cmd := &cobra.Command{
		Use:   "save TARGET [FILE | -]",
		Short: "Save a verified snapshot to a file, to stdout, or into druid's backup store",
		Long: ui.Paragraphs(`
			Save a snapshot of one member: of a healthy follower, over a connection of its own
			through the API server.

			FILE gets its name only once the snapshot is whole: the SHA-256 that the member sent
			fits, every page of the database was read and is in order, and all of it is on disk.
			Until then it is called FILE.part, which is removed whatever goes wrong, also on Ctrl-C.
			FILE.json beside it says where it came from. Without FILE the name is made of cluster
			and time. A transfer that fails is begun anew, of the next member.

			With - it goes to stdout. The hash is checked on the way and the exit code says how that
			went: only with 0 is what came out a snapshot. The database itself can't be checked then;
			use snapshot status on the file that it ends in.

			Nothing is changed in the cluster by that, and no lock is taken. It is refused while a
			defragmentation holds the cluster's lock: one that begins during a snapshot stops the member.

			--via backup-restore has the sidecars of a druid cluster write a snapshot into the backup
			store instead, and says what was written. That is a change like others, with a plan, the lock
			and an Event, and the flags --dry-run, --yes and --reason are for it.`),
		Example: ui.Examples(`
			# To a file with a name of its own
			kubectl etcd snapshot save etcd-main

			# Of one member, to a file
			kubectl etcd snapshot save etcd-main /backup/main.db --member etcd-main-2

			# Compressed on the way; pipefail lets the exit code through
			set -o pipefail; kubectl etcd snapshot save etcd-main - | zstd > main.db.zst

			# Have druid's backup-restore write what has changed since its last snapshot
			kubectl etcd snapshot save etcd-main --via backup-restore=delta -y`),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			if err := f.validate(cmd, file); err != nil {
				return err
			}
			if f.via != viaMember {
				return snapshotViaStore(cmd, a, args[0], f.via, f.change)
			}
			return runSave(cmd, a, args[0], file, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.member, "member", "", "Pod of the member to take it of, instead of the best follower")
	flags.BoolVar(&f.force, "force", false, "Replace FILE and FILE.json where they are there")
	flags.IntVar(&f.retries, "retries", 2, "How often to begin anew when a transfer fails")
	flags.DurationVar(&f.idle, "idle-timeout", 30*time.Second, "How long a transfer may bring nothing before it counts as failed")
	ui.AddEnum(cmd, flags, &f.via, "via", "way", "How to take it: from a member, or with backup-restore[=full|delta] by the sidecar of a druid cluster", viaMember, viaDefault, viaFull, viaDelta)
	ui.AddOutputFlags(cmd)
	change.AddFlags(cmd, &f.change)
	return cmd
}

// validate refuses flags that don't go together.
func (f *saveOptions) validate(cmd *cobra.Command, file string) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	switch {
	case f.via != viaMember && (file != "" || given("member") || f.force):
		return fmt.Errorf("--via %s writes into the cluster's backup store: it takes no file, --member or --force", f.via)
	case f.via == viaMember && (given("dry-run") || given("reason")):
		return errors.New("--dry-run and --reason are for --via backup-restore: a snapshot of a member changes nothing in the cluster")
	case !f.change.Wait:
		return errors.New("--wait=false is not possible here: whether a snapshot is whole is only known when it is there")
	case f.retries < 0:
		return fmt.Errorf("--retries is %d, and can't be less than 0", f.retries)
	}
	return nil
}

// runSave saves a snapshot of one of the members to a file or to stdout.
func runSave(cmd *cobra.Command, a *app.App, target, file string, f saveOptions) error {
	ctx, cancel := app.Within(cmd.Context(), f.change.Timeout, "save a snapshot of "+target)
	defer cancel()
	if file == "-" {
		if err := checkStdout(a, cmd); err != nil {
			return err
		}
	}
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := checkNotDefragmenting(ctx, a, c); err != nil {
		return err
	}
	order, err := chooseMembers(ctx, a, c, f.member)
	if err != nil {
		return err
	}
	s := newSaving(a, c, order, f)
	if file == "-" {
		return s.toStdout(ctx)
	}
	if file == "" {
		file = fmt.Sprintf("%s-%s-%s.db", c.Namespace, c.Name, s.began.UTC().Format("20060102T150405Z"))
	}
	return s.toFile(ctx, cmd, file, f.force)
}

func checkStdout(a *app.App, cmd *cobra.Command) error {
	if ui.FormatOf(cmd) != "table" {
		return errors.New("-o can't be used with -: the snapshot itself goes to stdout")
	}
	if _, ok := ui.Terminal(a.Out); ok {
		return errors.New("stdout is a terminal, and a snapshot is no text: name a file, or pipe it on")
	}
	return nil
}

// checkNotDefragmenting refuses while somebody defragments the cluster with this plugin.
func checkNotDefragmenting(ctx context.Context, a *app.App, c *app.Cluster) error {
	return operate.Heed(ctx, c.Kube, c.Owner, []string{"defrag"}, func(h operate.Holder, watch time.Duration) { change.Watching(a, h, watch) })
}

// chooseMembers are the members to ask, the best first, or the one that the user
// wants, whatever it is.
func chooseMembers(ctx context.Context, a *app.App, c *app.Cluster, pod string) ([]etcd.Member, error) {
	survey, err := c.Members.Survey(ctx)
	split, isSplit := errors.AsType[*etcd.SplitBrainError](err)
	if err != nil && !isSplit {
		return nil, err
	}
	if pod != "" {
		i := slices.IndexFunc(survey.Members, func(m etcd.Member) bool { return m.Pod == pod })
		if i < 0 {
			return nil, fmt.Errorf("%s has no member's pod called %q: it has %s", c.Owner, pod, strings.Join(podsOf(survey.Members), ", "))
		}
		warnAboutMember(a, survey.Members[i], survey.Members)
		return survey.Members[i : i+1], nil
	}
	if isSplit {
		return nil, app.Refused("%v: each has data of its own. Choose whose with --member", split)
	}
	order := etcd.SnapshotOrder(survey.Members)
	if len(order) == 0 {
		return nil, app.Unhealthy("%s has no member that a snapshot can be taken of: %s", c.Owner, whyUnusable(survey.Members))
	}
	if order[0].LeaderID == 0 {
		a.Warn("%s has no leader: this is what %s has applied, up to revision %d. Others may have applied more.", order[0].Pod, order[0].Pod, order[0].Revision)
	}
	return order, nil
}

// warnAboutMember says what is wrong with the member that the user chose.
func warnAboutMember(a *app.App, m etcd.Member, all []etcd.Member) {
	newest := int64(0)
	for _, other := range all {
		newest = max(newest, other.Revision)
	}
	switch {
	case m.Err != nil:
		a.Warn("%s: %s.", m.Pod, etcd.Reason(m.Err))
	case slices.Contains(m.Alarms, "CORRUPT"):
		a.Warn("%s has raised CORRUPT: its data differs from that of the other members.", m.Pod)
	case m.Learner:
		a.Warn("%s is a learner, at revision %d of %d.", m.Pod, m.Revision, newest)
	case m.LeaderID == 0:
		a.Warn("%s has no leader: this is what it has applied, up to revision %d.", m.Pod, m.Revision)
	}
}

func podsOf(members []etcd.Member) []string {
	pods := make([]string, len(members))
	for i := range members {
		pods[i] = members[i].Pod
	}
	return pods
}

func whyUnusable(members []etcd.Member) string {
	var said []string
	for _, m := range members {
		switch {
		case m.Err != nil:
			said = append(said, m.Pod+": "+etcd.Reason(m.Err))
		case m.Learner:
			said = append(said, m.Pod+" is a learner")
		default:
			said = append(said, m.Pod+" has raised "+strings.Join(m.Alarms, ", "))
		}
	}
	if len(said) == 0 {
		return "none of its pods is there"
	}
	return strings.Join(said, "; ")
}
