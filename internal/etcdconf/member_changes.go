// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/memberchange"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// MemberChange is a command of a pod that changes the member list of its cluster, or deletes a
// member's data.
type MemberChange struct {
	// Container is the name of the container, and Hook is postStart or preStop for a command of
	// its lifecycle, or trap for one that a trap of its script runs when it is to stop.
	Container, Hook string
	// Workload is the name of the StatefulSet, Deployment or other workload whose pods have the container, in a
	// cluster of several. It is empty in others.
	Workload string `json:",omitempty"`
	// Verb is add, remove, update or promote of etcdctl member; empty for a command that deletes
	// data.
	Verb string
	// Unclear is true where the script can't be parsed, and a line of it looks like such a command.
	Unclear bool
	// Perhaps is true for a removal before the pod stops to which not all ways of its script lead, or of
	// which that is not known.
	Perhaps bool
	// Unread is why a script that the container mounts could not be read. What that script does to
	// members is unknown, and Verb is empty.
	Unread string
	// Elsewhere is true if Unread is about a program that no ConfigMap has. It may be of any kind.
	Elsewhere bool `json:",omitempty"`
}

// PreStop is the Hook of a command that runs before a container stops.
const PreStop = "preStop"

// Trap is the Hook of a command that a trap of a script runs when its container is to stop.
const Trap = "trap"

// RunsAtStop reports whether the command runs when its container stops.
func (m MemberChange) RunsAtStop() bool { return m.Hook == PreStop || m.Hook == Trap }

// AtStop reports whether the command runs before its pod stops, and leaves etcd without the member or
// its data.
func (m MemberChange) AtStop() bool {
	return m.RunsAtStop() && m.Unread == "" && (m.Verb == "remove" || m.Verb == "")
}

// RemovesLeaving reports whether the command surely removes the member of each pod that stops.
func (m MemberChange) RemovesLeaving() bool {
	return m.Hook == PreStop && m.Verb == "remove" && !m.Unclear && !m.Perhaps
}

// AddedAgain reports whether the start script of the same pods adds their members to etcd.
func (m MemberChange) AddedAgain(changes []MemberChange) bool {
	return slices.ContainsFunc(changes, func(other MemberChange) bool { return other.Verb == "add" && other.Workload == m.Workload })
}

// Command returns the command as text.
func (m MemberChange) Command() string {
	switch {
	case m.Unread != "":
		return "a script that can't be read: " + m.Unread
	case m.Verb == "":
		return "removal of the data directory"
	}
	return "etcdctl member " + m.Verb
}

// Where returns where the command is, as the subject of a sentence.
func (m MemberChange) Where() string {
	of := m.Container
	if m.Workload != "" {
		of += " of " + m.Workload
	}
	switch m.Hook {
	case Trap:
		return "a trap in the start script of container " + of
	case PreStop, "postStart":
		return "the " + m.Hook + " hook of container " + of
	}
	return "the start script of container " + of
}

// MemberChanges returns the commands of a pod that change the member list of its cluster, or delete
// a member's data, once for each container, hook and verb. It inspects commands and the exec
// hooks of lifecycles. Without contents it reads no mounted scripts, and with them it also returns
// those that can't be read.
func MemberChanges(pod *corev1.Pod, contents Contents) []MemberChange {
	dirs := dataDirs(pod, contents)
	var all []MemberChange
	for at, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			ends := at == 0 && c.RestartPolicy == nil // before the others start
			around, data := surroundingsOf(pod, c, contents), dirs(c)
			find := func(hook string, argv []string) {
				for _, f := range memberchange.Find(shownArgs(argv, around), hook == PreStop, data, around) {
					hook := hook
					if f.Trapped && hook == "" && !ends {
						hook, f.Perhaps = Trap, f.Verb == "remove"
					}
					all = append(all, MemberChange{
						Container: c.Name, Hook: hook, Verb: f.Verb, Unclear: f.Unclear, Perhaps: f.Perhaps, Unread: f.Unread,
					})
				}
			}
			find("", slices.Concat(c.Command, c.Args))
			if why := unreadStart(pod, c, ends, around, contents); why != "" && !slices.ContainsFunc(all, func(m MemberChange) bool { return m.Container == c.Name && m.Hook == "" }) {
				all = append(all, MemberChange{Container: c.Name, Unread: why, Elsewhere: true})
			}
			for _, hook := range hooksOf(c) {
				find(hook.name, hook.argv)
				if why := unreadHook(pod, c, hook.argv, around); why != "" && !slices.ContainsFunc(all, func(m MemberChange) bool { return m.Container == c.Name && m.Hook == hook.name }) {
					all = append(all, MemberChange{Container: c.Name, Hook: hook.name, Unread: why, Elsewhere: true})
				}
			}
		}
	}
	return all
}

// unreadStart returns why it is not known what the program that starts etcd does, or one that it runs before, empty if that is
// known, or if it is druid's. A launcher may add its member to etcd, as Bitnami's image does. No files are
// known without contents.
func unreadStart(pod *corev1.Pod, c *corev1.Container, ends bool, around script.Surroundings, contents Contents) string {
	if ends {
		return unreadInit(pod, c, around)
	}
	if contents == nil || wrapper(c) {
		return ""
	}
	if member := MemberIn(pod, contents).Container; member == nil || member.Name != c.Name {
		return ""
	}
	started := startedIn(pod, c, contents)
	switch started.Program {
	case "etcd":
		return unreadFile(slices.Concat(c.Command, c.Args), false, around)
	case "":
		return "the image decides which program it is"
	}
	return script.Cut(cmp.Or(started.Path, script.FileOf(slices.Concat(c.Command, c.Args)), started.Program)) + ": no ConfigMap has the program that starts etcd"
}

// unreadHook returns why it is not known what a hook of etcd's container does, empty if that is known: only the image or
// a volume has its program. No files are known without contents.
func unreadHook(pod *corev1.Pod, c *corev1.Container, argv []string, around script.Surroundings) string {
	if member := MemberOf(pod).Container; around.File == nil || member != nil && member.Name != c.Name {
		return ""
	}
	return unreadFile(argv, true, around)
}

// unreadInit returns why it is not known what a container that ends before etcd starts does, empty if that is known. One
// without a path is a tool.
func unreadInit(pod *corev1.Pod, c *corev1.Container, around script.Surroundings) string {
	argv := slices.Concat(c.Command, c.Args)
	if around.File == nil || MemberOf(pod).Container == nil || !slices.ContainsFunc(script.FilesOf(argv, false), path.IsAbs) {
		return ""
	}
	return unreadFile(argv, false, around)
}

// unreadFile returns why it is not known what a command does, empty if that is known: no ConfigMap has a program or a
// script that it runs or, with sourced, reads into its own.
func unreadFile(argv []string, sourced bool, around script.Surroundings) string {
	for _, file := range script.FilesOf(argv, sourced) {
		if _, ok := around.Read(file, false); !ok {
			return script.Cut(file) + ": no ConfigMap has it"
		}
	}
	return ""
}

// hook is a command that runs after a container starts, or before it stops.
type hook struct {
	name string
	argv []string
}

// hooksOf returns the hooks of a container that execute commands.
func hooksOf(c *corev1.Container) []hook {
	if c.Lifecycle == nil {
		return nil
	}
	all := []hook{{"postStart", hookCommand(c.Lifecycle.PostStart)}, {PreStop, hookCommand(c.Lifecycle.PreStop)}}
	return slices.DeleteFunc(all, func(h hook) bool { return len(h.argv) == 0 })
}

// hookCommand returns the command of a hook, none if it executes none.
func hookCommand(h *corev1.LifecycleHandler) []string {
	if h == nil || h.Exec == nil {
		return nil
	}
	return h.Exec.Command
}
