// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// reference is a ConfigMap or Secret that a pod needs to start.
type reference struct {
	kind, name string
	// keys are those that it needs. whole means that it reads all of them.
	keys  []string
	whole bool
}

func (r reference) String() string { return r.kind + " " + r.name }

// references returns what a pod needs to start, by kind and name. Optional objects and keys are not
// needed.
func references(spec *corev1.PodSpec) []reference {
	found := map[string]*reference{}
	add := func(kind, name string, optional *bool, keys ...string) {
		if name == "" || optional != nil && *optional {
			return
		}
		r := found[kind+" "+name]
		if r == nil {
			r = &reference{kind: kind, name: name}
			found[r.String()] = r
		}
		r.keys, r.whole = append(r.keys, keys...), r.whole || len(keys) == 0
	}
	for _, v := range spec.Volumes {
		mounts(v, add)
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		variables(c, add)
	}
	var all []reference
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[name])
	}
	return all
}

// addReference records that a pod reads an object: all of it, or only the given keys.
type addReference func(kind, name string, optional *bool, keys ...string)

const configMap, secret = "ConfigMap", "Secret"

func mounts(v corev1.Volume, add addReference) {
	if c := v.ConfigMap; c != nil {
		add(configMap, c.Name, c.Optional, keysOf(c.Items)...)
	}
	if s := v.Secret; s != nil {
		add(secret, s.SecretName, s.Optional, keysOf(s.Items)...)
	}
	if v.Projected == nil {
		return
	}
	for _, p := range v.Projected.Sources {
		if c := p.ConfigMap; c != nil {
			add(configMap, c.Name, c.Optional, keysOf(c.Items)...)
		}
		if s := p.Secret; s != nil {
			add(secret, s.Name, s.Optional, keysOf(s.Items)...)
		}
	}
}

func variables(c corev1.Container, add addReference) {
	for _, from := range c.EnvFrom {
		if r := from.ConfigMapRef; r != nil {
			add(configMap, r.Name, r.Optional)
		}
		if r := from.SecretRef; r != nil {
			add(secret, r.Name, r.Optional)
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			continue
		}
		if r := v.ValueFrom.ConfigMapKeyRef; r != nil {
			add(configMap, r.Name, r.Optional, r.Key)
		}
		if r := v.ValueFrom.SecretKeyRef; r != nil {
			add(secret, r.Name, r.Optional, r.Key)
		}
	}
}

func keysOf(items []corev1.KeyToPath) []string {
	var keys []string
	for _, i := range items {
		keys = append(keys, i.Key)
	}
	return keys
}

// readConfig returns digests of what the next pods need, and why they couldn't start.
func (j *Job) readConfig(ctx context.Context, sets []*appsv1.StatefulSet, f *operate.Findings) (map[string]string, error) {
	digests := map[string]string{}
	for _, sts := range sets {
		for _, r := range references(&sts.Spec.Template.Spec) {
			digest, missing, err := j.read(ctx, r)
			switch {
			case apierrors.IsForbidden(err):
				f.Warn("%s can't be read, so it is not known whether a new pod can start with it.", r)
			case err != nil:
				return nil, fmt.Errorf("read %s of namespace %s: %w", r, j.Owner.Namespace, err)
			case missing != "":
				f.Refuse("%s, which a new pod of StatefulSet %s needs: it would not start. Create it first", missing, sts.Name)
			default:
				digests[r.String()] = digest
			}
		}
	}
	return digests, nil
}

// read returns a digest of what pods read of an object, or what is missing of it.
func (j *Job) read(ctx context.Context, r reference) (digest, missing string, err error) {
	key := client.ObjectKey{Namespace: j.Owner.Namespace, Name: r.name}
	var object client.Object
	data := map[string][]byte{}
	if r.kind == secret {
		s := &corev1.Secret{}
		object, err = s, j.Kube.Get(ctx, key, s)
		maps.Copy(data, s.Data)
	} else {
		c := &corev1.ConfigMap{}
		object, err = c, j.Kube.Get(ctx, key, c)
		maps.Copy(data, c.BinaryData)
		for k, v := range c.Data {
			data[k] = []byte(v)
		}
	}
	if apierrors.IsNotFound(err) {
		return "", fmt.Sprintf("%s does not exist", r), nil
	}
	for _, k := range r.keys {
		if _, has := data[k]; err == nil && !has {
			return "", fmt.Sprintf("%s has no key %q", r, k), nil
		}
	}
	return r.digest(object.GetUID(), data), "", err
}

// changedConfig returns a note if what the pods read has changed since the restart began, so that
// they may run with different contents.
func (j *Job) changedConfig(ctx context.Context, s *state, r *Record) []policy.Note {
	now, err := j.readConfig(ctx, s.sets, &operate.Findings{})
	if err != nil {
		return nil
	}
	changed := changedSince(r.Config, now)
	if len(changed) == 0 {
		return nil
	}
	return []policy.Note{policy.NewNote(rules.ConfigChanged, "%s changed during the restart, so the members may have started with different contents; run the command again",
		strings.Join(changed, ", "))}
}
