// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// found is what the StatefulSet's pods were created from before the first step: the values
// that an operation edits, and a digest of everything else. It is stored in a ConfigMap and in the mark of the
// StatefulSet, so it has no command line and no other variable: those can hold secrets.
type found struct {
	Strategy  appsv1.StatefulSetUpdateStrategy
	Container string
	// Command and Args are those of the container of that name.
	Command arguments
	Args    arguments
	// Env are its variables that an operation edits.
	Env []corev1.EnvVar `json:",omitempty"`
	// Configs are the values that an operation edits in ConfigMaps, by name and key.
	Configs map[string]map[string]string `json:",omitempty"`
	// TemplateDigest is of all else in the template, which must not change meanwhile.
	TemplateDigest string `json:"Rest"`
}

// arguments are the values of the two settings in a command line, in order. Digest is of the command
// line without those values, empty where it has none.
type arguments struct {
	Digest  string   `json:",omitempty"`
	Cluster []string `json:",omitempty"`
	State   []string `json:",omitempty"`
}

func argumentsOf(args []string) arguments {
	var a arguments
	keep := func(values *[]string) func(string) string {
		return func(value string) string { *values = append(*values, value); return value }
	}
	eachFlag(slices.Clone(args), settingCluster, keep(&a.Cluster))
	eachFlag(slices.Clone(args), settingState, keep(&a.State))
	if len(a.Cluster)+len(a.State) > 0 {
		a.Digest = digestOf(maskArgs(args))
	}
	return a
}

// UnmarshalJSON also reads the first format of the journal, which had the command line itself.
func (a *arguments) UnmarshalJSON(text []byte) error {
	var args []string
	if json.Unmarshal(text, &args) == nil {
		*a = argumentsOf(args)
		return nil
	}
	type plain arguments
	return json.Unmarshal(text, (*plain)(a))
}

// restore returns arguments with the values that the settings had. Where other arguments have changed,
// so that it is unknown which value belongs where, all get the first.
func (a arguments) restore(args []string) []string {
	out := slices.Clone(args)
	same := digestOf(maskArgs(args)) == a.Digest
	for setting, values := range map[string][]string{settingCluster: a.Cluster, settingState: a.State} {
		at := 0
		eachFlag(out, setting, func(now string) string {
			switch {
			case len(values) == 0:
				return now
			case same && at < len(values):
				at++
				return values[at-1]
			}
			return values[0]
		})
	}
	return out
}

// foundIn records the values that an operation edits. edited is the template with every such
// value replaced.
func foundIn(sts *appsv1.StatefulSet, r podTemplate, s etcdconf.Config, edited podTemplate) (found, error) {
	f := found{Container: s.Container, Strategy: *sts.Spec.UpdateStrategy.DeepCopy()}
	c := containers.Named(&r.template.Spec, s.Container)
	f.Command, f.Args = argumentsOf(c.Command), argumentsOf(c.Args)
	f.Env = slices.DeleteFunc(slices.Clone(c.Env), func(v corev1.EnvVar) bool { return !isEdited(v) })
	for name, data := range edited.configs {
		for key, value := range data {
			if before := r.configs[name][key]; before != value {
				if f.Configs == nil {
					f.Configs = map[string]map[string]string{}
				}
				if f.Configs[name] == nil {
					f.Configs[name] = map[string]string{}
				}
				f.Configs[name][key] = before
			}
		}
	}
	var err error
	f.TemplateDigest, err = templateDigest(r, s.Container)
	return f, err
}

// templateDigest returns a digest of a template without what may be edited of one container.
func templateDigest(r podTemplate, container string) (string, error) {
	template := r.template.DeepCopy()
	if c := containers.Named(&template.Spec, container); c != nil {
		c.Command, c.Args = maskArgs(c.Command), maskArgs(c.Args)
		c.Env = slices.DeleteFunc(c.Env, isBootstrapVar)
		if len(c.Env) == 0 {
			c.Env = nil
		}
	}
	text, err := json.Marshal(template)
	return digest(text), err
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func digestOf(args []string) string {
	sum := sha256.New()
	for _, w := range args {
		sum.Write([]byte(w))
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// maskArgs returns arguments without the values that an operation edits.
func maskArgs(all []string) []string {
	out := slices.Clone(all)
	replaceFlag(out, settingCluster, "-")
	replaceFlag(out, settingState, "-")
	return out
}

// restore writes what was found into a template. Changes by other clients stay.
func (f found) restore(r *podTemplate) {
	if c := containers.Named(&r.template.Spec, f.Container); c != nil {
		c.Command, c.Args, c.Env = f.Command.restore(c.Command), f.Args.restore(c.Args), restoreEnv(c.Env, f.Env)
	}
	for name, data := range f.Configs {
		for key, value := range data {
			r.setKey(name, key, value)
		}
	}
}

// restoreEnv returns variables of which those that an operation edits have their former values. It
// removes those that did not exist. No operation writes valueFrom. So what the template has stays where there was one
// before.
func restoreEnv(now, before []corev1.EnvVar) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, v := range now {
		if isEdited(v) {
			at := slices.IndexFunc(before, func(b corev1.EnvVar) bool { return b.Name == v.Name })
			if at < 0 {
				continue
			}
			if before[at].ValueFrom == nil {
				v = corev1.EnvVar{Name: v.Name, Value: before[at].Value}
			}
		}
		out = append(out, v)
	}
	return out
}

// values returns what an operation restores, as text.
func (f found) values() []string {
	out := f.setValues()
	for _, name := range slices.Sorted(maps.Keys(f.Configs)) {
		for _, key := range slices.Sorted(maps.Keys(f.Configs[name])) {
			out = append(out, format.Printable(fmt.Sprintf("%s=%s in ConfigMap %s", key, f.Configs[name][key], name)))
		}
	}
	return out
}

// setValues returns what an operation restores in the StatefulSet, as text.
func (f found) setValues() []string {
	var out []string
	for _, a := range []arguments{f.Command, f.Args} {
		for _, value := range a.Cluster {
			out = append(out, fmt.Sprintf("--%s=%s", settingCluster, value))
		}
		for _, value := range a.State {
			out = append(out, fmt.Sprintf("--%s=%s", settingState, value))
		}
	}
	for _, v := range f.Env {
		if v.ValueFrom == nil {
			out = append(out, v.Name+"="+v.Value)
		}
	}
	strategy := "update strategy " + cmp.Or(string(f.Strategy.Type), string(appsv1.RollingUpdateStatefulSetStrategyType))
	if r := f.Strategy.RollingUpdate; r != nil && r.Partition != nil {
		strategy += fmt.Sprintf(", partition %d", *r.Partition)
	}
	if r := f.Strategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		strategy += ", maxUnavailable " + r.MaxUnavailable.String()
	}
	out = append(out, strategy)
	for i := range out {
		out[i] = format.Printable(out[i])
	}
	return out
}

// isEdited reports whether an operation edits a variable.
func isEdited(v corev1.EnvVar) bool {
	return v.Name == variableOf(settingCluster) || v.Name == variableOf(settingState)
}

// isBootstrapVar reports whether a variable is no part of the template's digest. It takes in
// more than isEdited, as the digests in journals of all versions do.
func isBootstrapVar(v corev1.EnvVar) bool { return strings.HasPrefix(v.Name, "ETCD_INITIAL_CLUSTER") }

// isIn reports whether a template is as it was found, apart from changes by other clients.
func (f found) isIn(r podTemplate) bool {
	was := r.clone()
	f.restore(&was)
	return equality.Semantic.DeepEqual(was.template, r.template) && equality.Semantic.DeepEqual(was.configs, r.configs)
}
