// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// Change is what was found before the first step of a change of members, so that
// any later run can go on or undo it. It is a ConfigMap beside the cluster, made
// before the first step and gone after the last.
type Change struct {
	membership.Record

	// Began is when, by the clock of who began it; Reason is in their words.
	Began  time.Time
	Reason string `json:",omitempty"`
	// StatefulSet is the UID of the one that it is about.
	StatefulSet types.UID
	// Strategy, Command, Args and Env are the StatefulSet's, and of the container
	// of that name in its template. Configs are the values of ConfigMaps that the
	// operation writes, by name and key.
	Strategy  appsv1.StatefulSetUpdateStrategy
	Container string
	Command   []string                     `json:",omitempty"`
	Args      []string                     `json:",omitempty"`
	Env       []corev1.EnvVar              `json:",omitempty"`
	Configs   map[string]map[string]string `json:",omitempty"`
	// Rest is a digest of all else in the template: nobody may have changed it.
	Rest string

	object corev1.ConfigMap
}

const journalKey = "journal.json"

// JournalName is the name of a cluster's journal, in the cluster's own namespace.
func JournalName(o observe.Owner) string { return "kubectl-etcd-" + o.StatefulSet }

// Verb is the command that began the operation, without the target.
func (j *Change) Verb() string {
	if j.Operation == membership.Replace {
		return "member replace"
	}
	return "scale"
}

// ReadChange reads what was begun on a cluster and not ended, nil for nothing.
func ReadChange(ctx context.Context, kube client.Reader, o observe.Owner) (*Change, error) {
	var object corev1.ConfigMap
	err := kube.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: JournalName(o)}, &object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", o, err)
	}
	j := &Change{object: object}
	if err := json.Unmarshal([]byte(object.Data[journalKey]), j); err != nil {
		return nil, fmt.Errorf("read the journal of %s, ConfigMap %s: %w", o, object.Name, err)
	}
	return j, nil
}

// begin writes the journal for the first time.
func (j *Change) begin(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, dry bool) error {
	text, err := j.text()
	if err != nil {
		return err
	}
	j.object = corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sts.Namespace, Name: "kubectl-etcd-" + sts.Name,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "kubectl-etcd"},
			// So that it goes with the cluster.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: sts.Name, UID: sts.UID,
			}},
		},
		Data: map[string]string{
			"about":    "kubectl etcd " + j.Verb() + " is under way on this StatefulSet, or was interrupted: run the same command again to go on, or with --abort to undo it. Don't delete this.",
			journalKey: text,
		},
	}
	var options []client.CreateOption
	if dry {
		options = append(options, client.DryRunAll)
	}
	if err := kube.Create(ctx, &j.object, options...); err != nil {
		return fmt.Errorf("write the journal of StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	return nil
}

// undo notes that what was begun is to be undone.
func (j *Change) undo(ctx context.Context, kube client.Client) error {
	if j.Undo {
		return nil
	}
	j.Undo = true
	text, err := j.text()
	if err != nil {
		return err
	}
	before := j.object.DeepCopy()
	j.object.Data[journalKey] = text
	if err := kube.Patch(ctx, &j.object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write the journal %s/%s: %w", j.object.Namespace, j.object.Name, err)
	}
	return nil
}

// end removes the journal: nothing is left to do.
func (j *Change) end(ctx context.Context, kube client.Client) error {
	uid := j.object.UID
	err := kube.Delete(ctx, &j.object, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the journal %s/%s: %w", j.object.Namespace, j.object.Name, err)
	}
	return nil
}

func (j *Change) text() (string, error) {
	text, err := json.MarshalIndent(j, "", "  ")
	return string(text), err
}

// recordTemplate fills in what the StatefulSet is made from.
func (j *Change) recordTemplate(sts *appsv1.StatefulSet, r podTemplate, s etcdconf.Config, edited podTemplate) error {
	j.StatefulSet, j.Container = sts.UID, s.Container
	j.Strategy = *sts.Spec.UpdateStrategy.DeepCopy()
	c := containerOf(&r.template, s.Container)
	j.Command, j.Args, j.Env = c.Command, c.Args, c.Env
	for name, data := range edited.configs {
		for key, value := range data {
			if before := r.configs[name][key]; before != value {
				if j.Configs == nil {
					j.Configs = map[string]map[string]string{}
				}
				if j.Configs[name] == nil {
					j.Configs[name] = map[string]string{}
				}
				j.Configs[name][key] = before
			}
		}
	}
	var err error
	j.Rest, err = templateDigest(r, s.Container)
	return err
}

// templateDigest is a digest of a template but for what may be edited of one container.
func templateDigest(r podTemplate, container string) (string, error) {
	template := r.template.DeepCopy()
	if c := containerOf(template, container); c != nil {
		c.Command, c.Args = maskArgs(c.Command), maskArgs(c.Args)
		c.Env = slices.DeleteFunc(c.Env, isBootstrapVar)
		if len(c.Env) == 0 {
			c.Env = nil
		}
	}
	text, err := json.Marshal(template)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// maskArgs are arguments without the values that an operation edits.
func maskArgs(all []string) []string {
	out := slices.Clone(all)
	replaceFlag(out, settingCluster, "-")
	replaceFlag(out, settingState, "-")
	return out
}

func containerOf(t *corev1.PodTemplateSpec, name string) *corev1.Container {
	for i := range t.Spec.Containers {
		if t.Spec.Containers[i].Name == name {
			return &t.Spec.Containers[i]
		}
	}
	return nil
}

// restore gives a recipe back what the journal remembers of what an operation writes. What
// somebody else has changed beside that stays.
func (j *Change) restore(r *podTemplate) {
	if c := containerOf(&r.template, j.Container); c != nil {
		c.Command, c.Args, c.Env = restoreArgs(c.Command, j.Command), restoreArgs(c.Args, j.Args), restoreEnv(c.Env, j.Env)
	}
	for name, data := range j.Configs {
		for key, value := range data {
			r.setKey(name, key, value)
		}
	}
}

// restoreArgs gives words back the values that they had of what an operation writes.
func restoreArgs(now, before []string) []string {
	if slices.Equal(maskArgs(now), maskArgs(before)) {
		return before
	}
	out := slices.Clone(now)
	for _, setting := range []string{settingCluster, settingState} {
		if value, found := flagText(before, setting); found {
			replaceFlag(out, setting, value)
		}
	}
	return out
}

// restoreEnv is rewind for variables: those that there were not go.
func restoreEnv(now, before []corev1.EnvVar) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, v := range now {
		if isBootstrapVar(v) {
			at := slices.IndexFunc(before, func(b corev1.EnvVar) bool { return b.Name == v.Name })
			if at < 0 {
				continue
			}
			v = before[at]
		}
		out = append(out, v)
	}
	return out
}

// isBootstrapVar says whether a variable is one that an operation writes.
func isBootstrapVar(v corev1.EnvVar) bool { return strings.HasPrefix(v.Name, "ETCD_INITIAL_CLUSTER") }

// original says whether a recipe is as it was when the operation began, but for what somebody
// else has changed.
func (j *Change) original(r podTemplate) bool {
	was := r.clone()
	j.restore(&was)
	return equality.Semantic.DeepEqual(was.template, r.template) && equality.Semantic.DeepEqual(was.configs, r.configs)
}
