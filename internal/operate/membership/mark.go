// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// mark returns the value of the annotation that the first change of a StatefulSet sets: what is written to it later comes
// from there, because more users may write the journal than the StatefulSet. It has no ConfigMaps. Every user who may
// write the journal may write those.
func (f found) mark() (string, error) {
	f.Configs = nil
	text, err := json.Marshal(f)
	return string(text), err
}

// markOf returns the mark of a StatefulSet, nil for none.
func markOf(sts *appsv1.StatefulSet) (*found, error) {
	text, marked := sts.Annotations[v1alpha1.MemberChangeAnnotation]
	if !marked {
		return nil, nil
	}
	f := &found{}
	err := json.Unmarshal([]byte(text), f)
	if err == nil && (f.Container == "" || f.TemplateDigest == "") {
		err = errors.New("it has no container and no digest")
	}
	if err != nil {
		return nil, operate.Halt("StatefulSet %s/%s has annotation %s with a value that this version doesn't know (%v): restore its earlier value, or remove it: %s",
			sts.Namespace, sts.Name, v1alpha1.MemberChangeAnnotation, err, operate.UnmarkCommand(sts, v1alpha1.MemberChangeAnnotation))
	}
	f.Configs = nil
	return f, nil
}

// setMark marks a StatefulSet, unless it is marked.
func setMark(sts *appsv1.StatefulSet, mark string) {
	if _, marked := sts.Annotations[v1alpha1.MemberChangeAnnotation]; marked {
		return
	}
	if sts.Annotations == nil {
		sts.Annotations = map[string]string{}
	}
	sts.Annotations[v1alpha1.MemberChangeAnnotation] = mark
}

// readBefore sets what an operation restores. That comes from the mark of the StatefulSet. Without a mark, the operation has not
// changed the StatefulSet, so that it is as it was before. If the journal has other values then, they are unproven.
func (s *observation) readBefore(j *Change) error {
	mark, err := markOf(s.sts)
	if err != nil {
		return err
	}
	if mark == nil {
		if mark, err = s.unchanged(j); err != nil {
			return err
		}
	}
	s.before, s.unproven = j.Found, mark == nil
	if mark != nil {
		s.before = *mark
		s.before.Configs = j.Found.Configs
	}
	s.Original = s.before.isIn(s.template)
	return nil
}

// unchanged returns the values of a StatefulSet that are those of the journal, nil if they differ. The digest is that of the
// journal: another client may have changed the rest of the template since.
func (s *observation) unchanged(j *Change) (*found, error) {
	config := s.configs[len(s.configs)-1]
	if containers.Named(&s.template.template.Spec, config.Container) == nil {
		return nil, nil
	}
	now, err := foundIn(s.sts, s.template, config, s.template)
	if err != nil {
		return nil, err
	}
	if now.Container != j.Found.Container || !slices.Equal(now.setValues(), j.Found.setValues()) {
		return nil, nil
	}
	now.TemplateDigest = j.Found.TemplateDigest
	return &now, nil
}

// recordOf returns the record of a change with the update strategy that is restored.
func (s *observation) recordOf(j *Change) membership.Record {
	r := j.Record
	if !s.unproven {
		r.OnDelete, r.Partition = strategyOf(s.before.Strategy)
	}
	return r
}

// distrust returns why no step of a change is done, empty if each may be. A scale-in restores nothing.
func (m *Members) distrust(s *observation, j *Change) string {
	if !s.unproven || j.Operation == membership.ScaleIn {
		return ""
	}
	mark, err := j.Found.mark()
	if err != nil {
		mark = err.Error()
	}
	return operate.Unmarked{
		Owner: m.Owner, Journal: journal.Name(m.Owner), Operation: "change of members", On: "of " + m.Owner.String(),
		Has:        fmt.Sprintf("has values that the StatefulSet doesn't have (%s)", strings.Join(j.Found.setValues(), "; ")),
		Annotation: v1alpha1.MemberChangeAnnotation, When: "it first changes the template or the update strategy",
		If: "these are the values from before the change", Value: format.Quote(format.Printable(mark)),
	}.String()
}

// checkUnmarked refuses a StatefulSet with the mark of an earlier change, whose journal is gone: its values would count for the
// new one.
func checkUnmarked(s *observation, f *operate.Findings) {
	mark, err := markOf(s.sts)
	switch {
	case err != nil:
		f.Refuse("%v", err)
	case mark != nil:
		f.Refuse("StatefulSet %s has annotation %s of an earlier change of its members, whose journal is gone. Before that change it had %s. Make sure that it has what it needs, then remove the annotation: %s",
			s.sts.Name, v1alpha1.MemberChangeAnnotation, strings.Join(mark.setValues(), "; "), operate.UnmarkCommand(s.sts, v1alpha1.MemberChangeAnnotation))
	}
}
