// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// The settings from which a member with an empty data directory gets its initial cluster.
const (
	settingCluster = "initial-cluster"
	settingState   = "initial-cluster-state"
	stateExisting  = "existing"

	// inFile begins the origin of settings in a file: see etcdconf.Config.
	inFile = "config file "
	// inScript ends it for settings in a script of the template. For one that is mounted, its
	// path follows.
	inScript = " in script"
)

// podTemplate is what the StatefulSet creates members from: the pod template, and the ConfigMaps of
// its variables.
type podTemplate struct {
	template corev1.PodTemplateSpec
	// configs are the data of ConfigMaps that were read, by name, and versions their resource versions.
	configs  map[string]map[string]string
	versions map[string]string
}

// setBootstrap writes an initial cluster and a state for new members, each where the template has it
// now. s is the configuration of any ordinal. It fails where a program or a file in the pod decides.
func (r *podTemplate) setBootstrap(s etcdconf.Config, cluster, state string) error {
	at := containers.Named(&r.template.Spec, s.Container)
	if at == nil {
		return fmt.Errorf("container %q is not in the pod template", s.Container)
	}
	for _, where := range s.Where {
		if strings.HasPrefix(where, inFile) {
			return fmt.Errorf("etcd reads its settings from %s, and ignores flags and variables", where)
		}
	}
	for _, w := range []struct{ setting, value string }{{settingCluster, cluster}, {settingState, state}} {
		if _, file, mounted := strings.Cut(s.Where[w.setting], inScript+" "); mounted {
			return fmt.Errorf("script %s, which the pods mount, sets --%s: a change of the pod template doesn't reach it", file, w.setting)
		}
		if err := r.set(at, w.setting, s.Where[w.setting], w.value); err != nil {
			return err
		}
	}
	return nil
}

func (r *podTemplate) set(c *corev1.Container, setting, where, value string) error {
	where = strings.TrimSuffix(where, inScript)
	variable := variableOf(setting)
	if where == "flag" {
		if !replaceFlag(c.Command, setting, value) && !replaceFlag(c.Args, setting, value) {
			return fmt.Errorf("--%s is not written in the pod template", setting)
		}
		return nil
	}
	for i := range c.Env {
		if c.Env[i].Name == variable {
			return r.setVariable(&c.Env[i], value)
		}
	}
	for i := range slices.Backward(c.EnvFrom) {
		if ref := c.EnvFrom[i].ConfigMapRef; ref != nil && r.setKey(ref.Name, strings.TrimPrefix(variable, c.EnvFrom[i].Prefix), value) {
			return nil
		}
	}
	if where != "" {
		return fmt.Errorf("%s is not written in the pod template", variable)
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: variable, Value: value})
	return nil
}

// variableOf returns the environment variable of a setting.
func variableOf(setting string) string {
	return "ETCD_" + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

func (r *podTemplate) setVariable(v *corev1.EnvVar, value string) error {
	if v.ValueFrom == nil {
		v.Value = value
		return nil
	}
	if ref := v.ValueFrom.ConfigMapKeyRef; ref != nil && r.setKey(ref.Name, ref.Key, value) {
		return nil
	}
	return fmt.Errorf("the value of %s is from elsewhere", v.Name)
}

// setKey writes a ConfigMap's key, and reports whether the ConfigMap has it. Otherwise it writes nothing.
func (r *podTemplate) setKey(name, key, value string) bool {
	if _, has := r.configs[name][key]; !has {
		return false
	}
	data := maps.Clone(r.configs[name])
	data[key] = value
	r.configs = maps.Clone(r.configs)
	r.configs[name] = data
	return true
}

// replaceFlag replaces a flag's value in all arguments, and reports whether it is in one: as --flag=value, as --flag value
// in two arguments, or as either in a shell script.
func replaceFlag(args []string, flag, value string) (found bool) {
	eachFlag(args, flag, func(string) string { found = true; return value })
	return found
}

// eachFlag replaces every value of a flag in the arguments by what write returns for it.
func eachFlag(args []string, flag string, write func(value string) string) {
	quoted := regexp.MustCompile(`((?:^|[\s"'])--?` + regexp.QuoteMeta(flag) + `(?:=|\s+))("[^"]*"|'[^']*'|[^\s"'\\;&|]+)`)
	for i, word := range args {
		name, value, assigned := strings.Cut(word, "=")
		bare := strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
		switch {
		case assigned && bare == flag && name != bare:
			args[i] = name + "=" + write(value)
		case !assigned && bare == flag && name != bare && i+1 < len(args):
			args[i+1] = write(args[i+1])
		case strings.ContainsAny(word, " \n\t") && quoted.MatchString(word):
			args[i] = quoted.ReplaceAllStringFunc(word, func(match string) string {
				parts := quoted.FindStringSubmatch(match)
				return parts[1] + write(parts[2])
			})
		}
	}
}

// clone returns a copy that can be changed without changing the first.
func (r podTemplate) clone() podTemplate {
	return podTemplate{template: *r.template.DeepCopy(), configs: r.configs}
}

// etcdConfig returns the configuration that the template would give to a pod.
func (r podTemplate) etcdConfig(ctx context.Context, reader *observe.Reader, sts *appsv1.StatefulSet, pod string) (etcdconf.Config, error) {
	contents := podfiles.New(reader, sts.Namespace).Contents(ctx)
	return etcdconf.ParsePod(etcdconf.NextPod(sts, &r.template, pod), func(kind, name string) (map[string][]byte, error) {
		data, err := contents(kind, name)
		if edited, ok := r.configs[name]; ok && kind == "ConfigMap" && err == nil {
			data = maps.Clone(data)
			for k, v := range edited {
				data[k] = []byte(v)
			}
		}
		return data, err
	})
}

// bootstrapOf returns the bootstrap flags that a member with an empty data directory would use.
func bootstrapOf(s etcdconf.Config) membership.BootstrapFlags {
	l := membership.BootstrapFlags{Existing: s.InitialClusterState == stateExisting}
	for _, p := range s.InitialPeers() {
		l.URLs = append(l.URLs, p.URL)
	}
	slices.Sort(l.URLs)
	return l
}
