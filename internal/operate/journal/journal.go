// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package journal keeps the record of an operation that takes several steps, so that
// another process can resume or undo it. It is a ConfigMap beside the cluster, created
// before the first step and deleted after the last. The journal has who began what and when.
// Its payload is what the operation needs to continue.
//
// Every user who may read ConfigMaps can read a journal. So a payload has nothing that can be
// a secret: no literal environment variables and no command lines, only what the operation
// itself writes, and digests of the rest.
package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Journal is the envelope of one operation.
type Journal struct {
	// Kind is the command that began it, without its target: "scale".
	Kind string `json:"kind"`
	// Began is when it began, by the clock of the machine that began it.
	Began time.Time `json:"began"`
	// By is the user, host and process that began it, empty for unknown. Reason is the text of
	// --reason.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Object is the UID of the StatefulSet that the operation changes.
	Object types.UID `json:"object"`
	// ScaleTo is the number of members to which kubectl etcd scale has to bring the cluster after a restore that has itself
	// ended. No other object has that number then. It is 0 while the operation is unfinished, and for all other kinds.
	ScaleTo int `json:"scaleTo,omitempty"`
	// Payload is what the operation of that kind needs to continue.
	Payload json.RawMessage `json:"payload"`

	config corev1.ConfigMap
}

// The keys of the text and of its description.
const (
	dataKey  = "journal.json"
	aboutKey = "about"
)

// KindRestart is the kind of a restart of members, and KindRestore that of a restore. All other kinds
// are changes of members.
const (
	KindRestart = "restart"
	KindRestore = "snapshot restore"

	kindScale = "scale"
)

// OfMembers reports whether there is an operation, and it is a change of members.
func (j *Journal) OfMembers() bool {
	return j != nil && j.Kind != KindRestart && j.Kind != KindRestore
}

// Replaced returns why an operation on a StatefulSet that was created again since can't go on, and the way out of it.
func (j *Journal) Replaced(sts *appsv1.StatefulSet) string {
	return fmt.Sprintf("StatefulSet %s/%s was created again since the %s began, so it can be neither continued nor undone: see what is left of it with kubectl etcd sweep -n %s, and add --remove to delete that",
		sts.Namespace, sts.Name, j.Kind, sts.Namespace)
}

// The label of every journal.
const (
	managedBy = "app.kubernetes.io/managed-by"
	manager   = "kubectl-etcd"
)

// Name returns the name of a cluster's journal, in the cluster's own namespace.
func Name(o owner.Owner) string { return nameOf(o.StatefulSet) }

func nameOf(statefulSet string) string { return "kubectl-etcd-" + statefulSet }

// statefulSetOf returns the StatefulSet of a journal's name.
func statefulSetOf(name string) string { return strings.TrimPrefix(name, nameOf("")) }

// CanExist reports whether a cluster can have a journal. Every StatefulSet can: a restart has one whatever
// manages the members, and the manager may be another one than when a change of members began.
func CanExist(o owner.Owner) bool { return o.StatefulSet != "" }

// Read returns the journal of a cluster, nil where no operation is unfinished, or the cluster can have no journal.
func Read(ctx context.Context, kube client.Reader, o owner.Owner) (*Journal, error) {
	if !CanExist(o) {
		return nil, nil
	}
	j := &Journal{}
	err := kube.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: Name(o)}, &j.config)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", o, err)
	}
	if err := j.parse(); err != nil {
		return nil, fmt.Errorf("read the journal of %s, ConfigMap %s: %w", o, j.config.Name, err)
	}
	return j, nil
}

// parse reads the ConfigMap's text. Every user who may write ConfigMaps may have changed it.
func (j *Journal) parse() error {
	text, found := j.config.Data[dataKey]
	if !found {
		return fmt.Errorf("it has no key %s: restore it, or rename the object that has this name", dataKey)
	}
	if err := json.Unmarshal([]byte(text), j); err != nil {
		return fmt.Errorf("%s is not a journal: %w: restore its earlier contents, because the operation can't be resumed or undone without them", dataKey, err)
	}
	j.By, j.Reason = format.PrintableLine(j.By), format.PrintableLine(j.Reason)
	switch {
	case j.Kind == "":
		return j.readFlat([]byte(text))
	case j.Kind != KindRestore:
		j.ScaleTo = 0
	case j.ScaleTo < 0 || j.ScaleTo > owner.MaxMembersRead:
		return fmt.Errorf("it awaits a scale to %d members, and no restore does: restore its earlier contents", j.ScaleTo)
	}
	return nil
}

// readFlat reads a journal of the first format, which had no envelope: the fields of a change of
// members stood beside those of the journal.
func (j *Journal) readFlat(text []byte) error {
	var flat struct {
		Operation   string
		StatefulSet types.UID
	}
	if err := json.Unmarshal(text, &flat); err != nil {
		return err
	}
	switch flat.Operation {
	case "ScaleOut", "ScaleIn":
		j.Kind = kindScale
	case "Replace":
		j.Kind = "member replace"
	default:
		return fmt.Errorf("it has no kind, and its operation %q is unknown: use the version of kubectl-etcd that began the operation to end it", flat.Operation)
	}
	j.Object, j.Payload = flat.StatefulSet, text
	return nil
}

// Pack sets the payload.
func (j *Journal) Pack(payload any) (err error) {
	j.Payload, err = json.Marshal(payload)
	return err
}

// Create writes the journal for the first time, beside the StatefulSet and owned by it. The journal of a scale replaces
// one that awaits a scale. With dry it is a dry run at the API server.
func (j *Journal) Create(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, dry bool) error {
	text, err := j.text()
	if err != nil {
		return err
	}
	j.config = corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sts.Namespace, Name: nameOf(sts.Name),
			Labels: map[string]string{managedBy: manager},
			// So that it is deleted with the cluster.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: sts.Name, UID: sts.UID,
			}},
		},
		Data: map[string]string{
			aboutKey: j.about(sts.Name),
			dataKey:  text,
		},
	}
	var options []client.CreateOption
	if dry {
		options = append(options, client.DryRunAll)
	}
	err = kube.Create(ctx, &j.config, options...)
	if apierrors.IsAlreadyExists(err) {
		took, failed := j.takeOver(ctx, kube, sts, text, dry)
		if took {
			return nil
		}
		err = fmt.Errorf("another operation has begun since the plan was made; see kubectl etcd status statefulset/%s -n %s: %w", sts.Name, sts.Namespace, cmp.Or(failed, err))
	}
	if err != nil {
		return fmt.Errorf("write the journal of StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	return nil
}

// ErrChanged is the error of an Update where another process has changed the journal since it was read.
var ErrChanged = errors.New("another process has changed it: run the command again, which reads it again")

// Update writes a changed payload. It fails where another process has changed the journal since it was
// read. Other changes of the ConfigMap, such as of its labels, stay.
func (j *Journal) Update(ctx context.Context, kube client.Client) error {
	text, err := j.text()
	if err != nil {
		return err
	}
	if err = j.write(ctx, kube, text); apierrors.IsConflict(err) {
		if err = j.reread(ctx, kube, text); err == nil {
			err = j.write(ctx, kube, text)
		}
	}
	if err != nil {
		return fmt.Errorf("write the journal %s/%s: %w", j.config.Namespace, j.config.Name, err)
	}
	return nil
}

// write writes the text if the ConfigMap is as it was read.
func (j *Journal) write(ctx context.Context, kube client.Client, text string) error {
	after := j.config.DeepCopy()
	after.Data[dataKey], after.Data[aboutKey] = text, j.about(statefulSetOf(after.Name))
	if err := kube.Patch(ctx, after, client.MergeFromWithOptions(&j.config, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	j.config = *after
	return nil
}

// reread reads the ConfigMap after another client has changed it. Its text must be as it was, or what
// is to be written: a write whose answer was lost.
func (j *Journal) reread(ctx context.Context, kube client.Client, text string) error {
	var now corev1.ConfigMap
	if err := kube.Get(ctx, client.ObjectKeyFromObject(&j.config), &now); err != nil {
		return err
	}
	if has := now.Data[dataKey]; now.UID != j.config.UID || has != j.config.Data[dataKey] && has != text {
		return ErrChanged
	}
	j.config = now
	return nil
}

// UpdateWith is Update with another payload.
func (j *Journal) UpdateWith(ctx context.Context, kube client.Client, payload any) error {
	if err := j.Pack(payload); err != nil {
		return err
	}
	return j.Update(ctx, kube)
}

// Delete removes the journal after the last step.
func (j *Journal) Delete(ctx context.Context, kube client.Client) error {
	uid := j.config.UID
	err := kube.Delete(ctx, &j.config, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the journal %s/%s: %w", j.config.Namespace, j.config.Name, err)
	}
	return nil
}

// Name returns the name of the ConfigMap of a journal that was read or created.
func (j *Journal) Name() string { return j.config.Name }

// Same reports whether two journals are of one operation.
func (j *Journal) Same(as *Journal) bool { return j.config.UID == as.config.UID }

func (j *Journal) text() (string, error) {
	text, err := json.MarshalIndent(j, "", "  ")
	return string(text), err
}
