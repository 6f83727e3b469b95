// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// volume is the volume of main-0 in a directory of this machine. Its helper pod is this machine.
type volume struct {
	Plan
	dir string
}

// newVolume returns a volume whose member has a file with its old data.
func newVolume(t *testing.T, change func(*Plan)) *volume {
	t.Helper()
	t.Chdir(t.TempDir()) // the new data is below the current directory
	v := &volume{Plan: plainRestore(), dir: filepath.Join(t.TempDir(), "it's here")}
	v.Members, v.Files.DataDir = v.Members[:1], v.dir
	if change != nil {
		change(&v.Plan)
	}
	for _, file := range v.into() {
		v.write(t, filepath.Join(v.Plan.dir(), file.Pod, "member/snap"), "new")
		v.write(t, filepath.Join(v.Plan.dir(), file.Pod+".wal/0.wal"), "new log")
	}
	v.write(t, filepath.Join(v.dir, "member/snap"), "old")
	return v
}

func (v *volume) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// do does actions for the volume. The copy of a file ends early if it is killed.
func (v *volume) do(t *testing.T, acts []step.PodAction, killed bool) {
	t.Helper()
	c := step.Clients{Exec: func(ctx context.Context, _ string, command []string, in io.Reader, out io.Writer) error {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
		return cmd.Run()
	}}
	for _, a := range acts {
		if _, compares := a.(step.CompareDir); compares && killed {
			return
		}
		if err := (step.ForEach{Pods: []string{"main-0"}, Acts: []step.PodAction{a}}).Do(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// undo does what an undoing does to the volume.
func (v *volume) undo(t *testing.T, done int, starter string) {
	t.Helper()
	v.Starter = starter
	steps, err := v.Undo(&progress.Record{Done: done})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		for _, a := range s.Acts {
			if each, is := a.(step.ForEach); is {
				v.do(t, each.Acts, false)
			}
		}
	}
}

// has checks all files of the volume, each as "path=text".
func (v *volume) has(t *testing.T, name string, want ...string) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(v.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && strings.Contains(path, ".new-") {
				t.Errorf("%s: %s is left", name, path)
			}
			return err
		}
		if strings.Contains(path, ".copied-") { // a file with sums: a repetition and an undoing read it
			return nil
		}
		text, err := os.ReadFile(path)
		got = append(got, strings.TrimPrefix(path, v.dir+"/")+"="+string(text))
		return err
	})
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: the volume has %q, want %q: %v", name, got, want, err)
	}
}

// TestUndoKeepsData: an undoing never deletes data that members may have run on, whichever client started them. It only
// deletes copies on which none has run.
func TestUndoKeepsData(t *testing.T) {
	const stamp = "19700101T000000"
	at := map[string]int{}
	for i, s := range newVolume(t, nil).steps() {
		if _, there := at[s.ID]; !there {
			at[s.ID] = i
		}
	}
	for name, row := range map[string]struct {
		done           int
		copies, killed bool
		starter, wrote string // what members wrote where they found their data
		want           []string
		loses          bool
	}{
		"renamed":                              {done: at[copied], want: []string{"member/snap=old"}},
		"the copy is incomplete":               {done: at[copied], copies: true, killed: true, want: []string{"member/snap=old"}},
		"the copy is complete":                 {done: at[copied] + 1, copies: true, want: []string{"member/snap=old"}},
		"it was started":                       {done: at[started], copies: true, wrote: "a day", want: []string{"member.undone-" + stamp + "/1/snap=a day", "member/snap=old"}, loses: true},
		"another client has started it":        {done: at[copied] + 1, copies: true, starter: "another client", wrote: "a day", want: []string{"member.undone-" + stamp + "/1/snap=a day", "member/snap=old"}, loses: true},
		"another client had started it":        {done: at[copied] + 1, copies: true, wrote: "a day", want: []string{"member.undone-" + stamp + "/1/snap=a day", "member/snap=old"}},
		"another client started it without it": {done: at[copied], copies: true, killed: true, starter: "another client", wrote: "a day", want: []string{"member.undone-" + stamp + "/1/snap=a day", "member/snap=old"}, loses: true},
	} {
		v := newVolume(t, nil)
		v.do(t, v.setAside(false), false)
		if row.copies {
			v.do(t, v.copyData(), row.killed)
		}
		if row.wrote != "" {
			v.write(t, filepath.Join(v.dir, "member/snap"), row.wrote)
		}
		v.undo(t, row.done, row.starter)
		v.has(t, name, row.want...)
		v.undo(t, row.done, row.starter) // it was interrupted
		v.has(t, name+", undone twice", row.want...)
		if lost := v.UndoLoses(&progress.Record{Done: row.done}); (lost != "") != row.loses || row.loses && !strings.Contains(lost, "/member.undone-"+stamp) {
			t.Errorf("%s: the warning is %q", name, lost)
		}
	}
}

// TestCopyKeepsData: neither the renaming nor the copy deletes what a member wrote where it finds its data. An incomplete
// copy never has that name.
func TestCopyKeepsData(t *testing.T) {
	const stamp = "19700101T000000"
	old := "member.before-" + stamp + "/snap=old"
	v := newVolume(t, nil)
	v.do(t, v.setAside(false), false)
	v.do(t, v.copyData(), true)
	v.do(t, v.setAside(false), false)
	v.do(t, v.copyData(), false)
	v.has(t, "copied after an incomplete copy", old, "member/snap=new")
	v.write(t, filepath.Join(v.dir, "member/snap"), "a day")
	v.do(t, v.copyData(), false)
	v.has(t, "copied again after a member has run", old, "member.undone-"+stamp+"/1/snap=a day", "member/snap=new")

	v = newVolume(t, nil)
	v.do(t, v.setAside(false), false)
	v.write(t, filepath.Join(v.dir, "member/snap"), "a day")
	v.do(t, v.setAside(false), false)
	v.has(t, "renamed again after a member has run", old, "member.undone-"+stamp+"/1/snap=a day")

	v = newVolume(t, nil)
	v.do(t, v.setAside(false), false)
	v.write(t, filepath.Join(v.dir, "member/snap"), "empty")
	v.do(t, v.setAside(true), false)
	v.has(t, "renamed again after the restore has created volumes", old)
}

// TestCopyOften: a copy that is interrupted can be repeated as often as one likes. A repetition has the room that the first one
// had. Each member that another client has started meanwhile keeps what it wrote, and nothing else is kept.
func TestCopyOften(t *testing.T) {
	const stamp = "19700101T000000"
	for _, wal := range []string{"", "wal", "member/wal"} {
		v := newVolume(t, func(r *Plan) {
			if wal != "" {
				r.Files.WALDir = filepath.Join(r.Files.DataDir, wal)
			}
		})
		old := []string{"member.before-" + stamp + "/snap=old"}
		v.do(t, v.setAside(false), false)
		news := []string{"member/snap=new"}
		if wal != "" {
			news = append(news, wal+"/0.wal=new log")
		}
		v.do(t, v.copyData(), false)
		for range 3 {
			v.do(t, v.dropCopies(), false)
			v.has(t, wal+", there is room for a copy", old...)
			v.do(t, v.copyData(), false)
			v.has(t, wal+", copied again", slices.Concat(old, news)...)
		}
		v.undo(t, slices.IndexFunc(v.steps(), func(s step.Step) bool { return s.ID == copied }), "")
		v.has(t, wal+", undone", "member/snap=old")
		for _, file := range v.SumPaths() {
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%s: %s is left", wal, file)
			}
		}
	}

	v := newVolume(t, nil)
	v.do(t, v.setAside(false), false)
	want := []string{"member.before-" + stamp + "/snap=old"}
	for i, day := range []string{"first", "second", "third"} {
		v.do(t, v.copyData(), false)
		v.write(t, filepath.Join(v.dir, "member/snap"), day)
		v.do(t, v.setAside(false), false)
		want = append(want, fmt.Sprintf("member.undone-%s/%d/snap=%s", stamp, i+1, day))
	}
	v.has(t, "members have run three times", want...)
	v.do(t, v.copyData(), false)
	v.write(t, filepath.Join(v.dir, "member/wal"), "log") // beside what was copied
	v.undo(t, slices.IndexFunc(v.steps(), func(s step.Step) bool { return s.ID == started }), "")
	v.has(t, "undone", append(want[1:], "member.undone-"+stamp+"/4/snap=new", "member.undone-"+stamp+"/4/wal=log", "member/snap=old")...)
}

// TestCopyLog: a log that is apart is copied, too, also if it is below the data.
func TestCopyLog(t *testing.T) {
	const stamp = "19700101T000000"
	for wal, want := range map[string]map[string]string{
		"wal":        {"member.before-" + stamp + "/snap": "old", "wal.before-" + stamp + "/0.wal": "old log", "member/snap": "new", "wal/0.wal": "new log"},
		"member/wal": {"member.before-" + stamp + "/snap": "old", "member.before-" + stamp + "/wal/0.wal": "old log", "member/snap": "new", "member/wal/0.wal": "new log"},
	} {
		v := newVolume(t, func(r *Plan) { r.Files.WALDir = filepath.Join(r.Files.DataDir, wal) })
		v.write(t, filepath.Join(v.Files.WALDir, "0.wal"), "old log")
		v.do(t, v.setAside(false), false)
		v.do(t, v.copyData(), false)
		var files []string
		for _, path := range slices.Sorted(maps.Keys(want)) {
			files = append(files, path+"="+want[path])
		}
		slices.Sort(files)
		v.has(t, wal, files...)
	}
}
