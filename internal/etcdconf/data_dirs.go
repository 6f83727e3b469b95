// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/memberchange"
)

// dataDirs returns a function with the folders of etcd's data as each container of a pod sees them. They are what variables
// and flags of any container name, and what etcd's configuration has. Without contents no object is read.
func dataDirs(pod *corev1.Pod, contents Contents) func(c *corev1.Container) memberchange.Dirs {
	if contents == nil {
		contents = Unread(pod.Namespace)
	}
	contents = once(contents)
	var named []string
	for _, c := range containers.Of(&pod.Spec) {
		named = append(named, namedDirs(pod, c, withoutSecrets(contents))...)
	}
	etcd, known := MemberIn(pod, contents).Container, len(named) > 0
	if etcd != nil && !wrapper(etcd) {
		var dirs []string
		dirs, known = settingDirs(newEnvironment(pod, etcd, contents))
		named = append(named, dirs...)
	}
	return func(c *corev1.Container) memberchange.Dirs {
		all := slices.Concat(named, namedDirs(pod, c, withoutSecrets(contents)))
		if etcd != nil && etcd.Name != c.Name {
			for _, dir := range named {
				all = append(all, otherMounts(locationOf(etcd, path.Clean(dir)), c)...)
			}
		}
		return memberchange.Dirs{At: memberchange.DataDirs(all), Unknown: !known}
	}
}

// namedDirs returns the folders that the variables and the flags of a container name.
func namedDirs(pod *corev1.Pod, c *corev1.Container, contents Contents) (dirs []string) {
	env := newEnvironment(pod, c, contents)
	variableNames(c, contents, func(name string) {
		if memberchange.NamesData(name) {
			value, _ := env.lookup(name)
			dirs = append(dirs, value)
		}
	})
	argv := slices.Concat(c.Command, c.Args)
	for i, word := range argv {
		if value, err := expandReferences(word, env.lookup); err == nil {
			argv[i] = value
		}
	}
	return append(dirs, memberchange.DirFlags(argv)...)
}

// settingDirs returns the folders that etcd's configuration has, on each way of its script. known is false if the data
// directory of one of them is not known.
func settingDirs(env *environment) (dirs []string, known bool) {
	s, err := settingsOf(env, false)
	if err != nil || s.many != nil {
		return nil, false
	}
	known = true
	for _, way := range append([]*settings{s}, s.others...) {
		for _, flag := range []string{"data-dir", "wal-dir"} {
			value, _, _, err := way.own(flag)
			is := err == nil && IsKnownDir(value)
			if is {
				dirs = append(dirs, value)
			}
			known = known && (is || flag == "wal-dir")
		}
	}
	return dirs, known
}

// otherMounts returns where a container has a folder of a volume that another one mounts.
func otherMounts(at DataLocation, c *corev1.Container) (dirs []string) {
	if at.Volume == "" {
		return nil
	}
	for _, m := range c.VolumeMounts {
		of := path.Join("/", m.SubPath, m.SubPathExpr)
		switch below, is := strings.CutPrefix(at.Path+"/", strings.TrimSuffix(of, "/")+"/"); {
		case m.Name != at.Volume:
		case is:
			dirs = append(dirs, path.Join(m.MountPath, below))
		case strings.HasPrefix(of, strings.TrimSuffix(at.Path, "/")+"/"): // a folder in it
			dirs = append(dirs, m.MountPath)
		}
	}
	return dirs
}
