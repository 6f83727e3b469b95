// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// mostDirs is how many folders of data are known. A pod with more may have any folder as one.
const mostDirs = 64

// Dirs are the folders of the members' data that a container has.
type Dirs struct {
	At []string
	// Unknown is true if etcd may have another one.
	Unknown bool
	// Variable returns a variable as a shell of the container has it, and false for one that is not known. It may be nil.
	Variable func(name string) (value string, ok bool)
}

// dataNames are what a script calls the folders of a member's data.
type dataNames struct {
	dirs []string
	// unknown is true if etcd may have another folder.
	unknown  bool
	variable func(name string) (value string, ok bool)
	// names are variables that hold such a folder.
	names map[string]bool
	// inside is true where the script changes into such a folder.
	inside bool
}

// dataName finds a variable that is called after the folder of etcd's data.
var dataName = regexp.MustCompile(`(?i)^(?:(?:ETCD_?)?(?:DATA|WAL)(?:_?(?:DIR|DIRECTORY|FOLDER|PATH|ROOT))?|ETCD_?(?:DIR|DIRECTORY|FOLDER))$`)

// reference finds a variable at the beginning of a word.
var reference = regexp.MustCompile(`^\$(\w+)(.*)$`)

// NamesData reports whether a variable is called after the folder of etcd's data.
func NamesData(variable string) bool { return dataName.MatchString(variable) }

// DataDirs returns some folders of data without relative ones, as many as are counted.
func DataDirs(named []string) []string {
	var d dataNames
	for _, dir := range named {
		d.addDir(dir)
	}
	return d.dirs
}

// DirFlags returns the folders of data among etcd's arguments.
func DirFlags(args []string) []string {
	var dirs []string
	for i, word := range args {
		name, value, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || name != "data-dir" && name != "wal-dir" {
			continue
		}
		if !assigned && i+1 < len(args) {
			value = args[i+1]
		}
		dirs = append(dirs, value)
	}
	return dirs
}

func (d *dataNames) addDir(dir string) {
	for _, dir := range d.spellings(dir) {
		dir = path.Clean(dir)
		if !d.full() && dir != "/" && rooted.MatchString(dir) && !slices.Contains(d.dirs, dir) {
			d.dirs = append(d.dirs, dir)
		}
	}
}

// rooted finds a path that is absolute, or is below what a variable holds.
var rooted = regexp.MustCompile(`^(?:/|\$[A-Za-z_])`)

// full reports whether no more folders of data are counted.
func (d *dataNames) full() bool { return len(d.dirs) >= mostDirs }

// has reports whether a word is a folder of data, above it, or what etcd keeps in it. Other files below
// it, such as lost+found or a script's own lock, are none of etcd's.
func (d *dataNames) has(word string) bool {
	return slices.ContainsFunc(d.spellings(word), func(spelling string) bool {
		return slices.ContainsFunc(alternatives(spelling), d.hasOne)
	})
}

// hasOne reports whether has does so for a word without braces.
func (d *dataNames) hasOne(word string) bool {
	if strings.HasPrefix(word, "/") {
		return d.hasPath(word) || d.unknown && inMember(word)
	}
	if m := reference.FindStringSubmatch(word); m != nil {
		return d.hasBelow(m[1], m[2]) || d.hasPath(word)
	}
	own := strings.TrimPrefix(word, "./")
	first, _, _ := strings.Cut(own, "/")
	return d.inside && OwnFiles(own) || strings.HasSuffix(first, ".etcd") && OwnFiles(own)
}

// inMember reports whether an absolute path has the name of a member's own folder, and is what etcd keeps in it.
func inMember(word string) bool {
	folders := strings.Split(strings.Trim(word, "/"), "/")
	at := slices.IndexFunc(folders, func(folder string) bool { return folder == "member" || strings.HasSuffix(folder, ".etcd") })
	if at < 0 {
		return false
	}
	if folders[at] == "member" {
		return OwnFiles(strings.Join(folders[at:], "/"))
	}
	return OwnFiles(strings.Join(folders[at+1:], "/"))
}

// hasBelow reports whether a path below a variable is data.
func (d *dataNames) hasBelow(name, below string) bool {
	switch {
	case below == "*":
		below = ""
	case below != "" && below[0] != '/':
		return false
	}
	if d.names[name] || dataName.MatchString(name) {
		return OwnFiles(below)
	}
	return strings.HasPrefix(below+"/", "/member/") && OwnFiles(below)
}

// above reports whether a folder of data is below a path.
func (d *dataNames) above(word string) bool {
	return slices.ContainsFunc(d.spellings(word), func(spelling string) bool {
		spelling = strings.TrimSuffix(spelling, "/") + "/"
		return slices.ContainsFunc(d.dirs, func(dir string) bool { return strings.HasPrefix(dir, spelling) })
	})
}

func (d *dataNames) hasPath(word string) bool {
	base := path.Clean(word)
	if path.Base(base) == "*" {
		base = path.Dir(base)
	}
	return d.full() || slices.ContainsFunc(d.dirs, func(dir string) bool {
		below, is := strings.CutPrefix(base, dir+"/")
		return strings.TrimSuffix(base, "*") == dir || is && OwnFiles(below)
	}) || d.above(base)
}

// OwnFiles reports whether a path in a folder of data is what etcd keeps there.
func OwnFiles(below string) bool {
	below = strings.Trim(below, "/")
	last := path.Base(below)
	if strings.Contains(last, "tmp") || strings.HasSuffix(last, ".lock") || strings.HasSuffix(last, ".broken") {
		return false
	}
	folders := strings.Split(below, "/")
	switch folders[0] {
	case "", ".", "*", "member", "wal", "snap":
		return true
	}
	return strings.HasSuffix(folders[0], ".etcd") || slices.Contains(folders, "member")
}

// choice finds the last braces of a word that have no others in them.
var choice = regexp.MustCompile(`^(.*)\{([^{}]*,[^{}]*)\}(.*)$`)

// mostAlternatives bounds what a word with several braces stands for.
const mostAlternatives = 64

// alternatives returns what a word with braces stands for, such as a/{b,c}: the first alternatives.
func alternatives(word string) []string {
	all := []string{word}
	for at := 0; at < len(all) && len(all) < mostAlternatives; {
		m := choice.FindStringSubmatch(all[at])
		if m == nil {
			at++
			continue
		}
		var instead []string
		for part := range strings.SplitSeq(m[2], ",") {
			if instead = append(instead, m[1]+part+m[3]); len(instead) == mostAlternatives {
				break
			}
		}
		all = slices.Replace(all, at, at+1, instead...)
	}
	return all
}
