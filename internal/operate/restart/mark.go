// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// mark is the mark of a coordinated restart on its StatefulSet. It decides how far the restart is and how
// many replicas start again, because users who can write the journal may not be able to write the
// StatefulSet. The zero mark is none.
type mark struct {
	phase rules.Phase
	size  int
}

// markFormat has the phase, the size, and the time.
const markFormat = "%s with %d replicas at %s"

// at returns the text of a mark, nil for none. The time makes each text another one.
func (m mark) at(now time.Time) *string {
	if m.phase == "" {
		return nil
	}
	return new(fmt.Sprintf(markFormat, m.phase, m.size, now.UTC().Format(time.RFC3339Nano))) //nolint:forbidigo // stored
}

// markOf returns the mark of a StatefulSet.
func markOf(sts *appsv1.StatefulSet) (m mark, err error) {
	text := sts.Annotations[v1alpha1.RestartAnnotation]
	if text == "" {
		return m, nil
	}
	var at string
	_, err = fmt.Sscanf(text, markFormat, &m.phase, &m.size, &at)
	known := m.phase == rules.Scheduled || m.phase == rules.Stopping || m.phase == rules.Starting
	if err != nil || !known || m.size < 1 {
		return mark{}, operate.Halt("StatefulSet %s/%s has the mark %q, which this version doesn't know: remove it: %s", sts.Namespace, sts.Name, text, operate.UnmarkCommand(sts, v1alpha1.RestartAnnotation))
	}
	return m, nil
}

// mark marks the StatefulSet, or removes the mark.
func (j *Job) mark(ctx context.Context, s *state, m mark) error {
	return j.patchSet(ctx, s, m.at(j.Clock.Now()), nil)
}

// checkUnmarked refuses a StatefulSet with the mark of an earlier restart, whose journal is gone: its phase
// would count for the new one.
func checkUnmarked(sts *appsv1.StatefulSet, f *operate.Findings) {
	if text := sts.Annotations[v1alpha1.RestartAnnotation]; text != "" {
		f.Refuse("StatefulSet %s has the mark of an earlier restart (%s): remove it: %s", sts.Name, text, operate.UnmarkCommand(sts, v1alpha1.RestartAnnotation))
	}
}
