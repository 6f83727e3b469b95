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
}

// dataNames are what a script calls the folders of a member's data.
type dataNames struct {
	dirs []string
	// unknown is true if etcd may have another folder.
	unknown bool
	// names are variables that hold such a folder.
	names map[string]bool
	// inside is true where the script changes into such a folder.
	inside bool
}

// dataName finds a variable that is called after the folder of etcd's data.
var dataName = regexp.MustCompile(`(?i)^(?:(?:ETCD_?)?(?:DATA|WAL)(?:_?(?:DIR|DIRECTORY|FOLDER|PATH|ROOT))?|ETCD_?(?:DIR|DIRECTORY|FOLDER))$`)

// expansion finds the use of a variable with braces, such as ${NAME:?} and ${NAME%/}.
var expansion = regexp.MustCompile(`\$\{(\w+)(?:[:?%#=+-][^{}]*)?\}`)

// reference finds a variable at the beginning of a word.
var reference = regexp.MustCompile(`^\$(\w+)(.*)$`)

// NamesData reports whether a variable is called after the folder of etcd's data.
func NamesData(variable string) bool { return dataName.MatchString(variable) }

// DataDirs returns the absolute ones of some folders of data, as many as are counted.
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
	if d.full() {
		return
	}
	dir = path.Clean(unbraced(dir))
	if strings.HasPrefix(dir, "/") && dir != "/" && !slices.Contains(d.dirs, dir) {
		d.dirs = append(d.dirs, dir)
	}
}

// full reports whether no more folders of data are counted.
func (d *dataNames) full() bool { return len(d.dirs) >= mostDirs }

// unbraced writes each variable of a word without braces, since ${NAME} is $NAME.
func unbraced(word string) string { return expansion.ReplaceAllString(word, "$$${1}") }

// has reports whether a word is a folder of data, above it, or what etcd keeps in it. Other files below
// it, such as lost+found or a script's own lock, are none of etcd's.
func (d *dataNames) has(word string) bool {
	return slices.ContainsFunc(alternatives(unbraced(word)), d.hasOne)
}

// hasOne reports what has reports, for a word without braces.
func (d *dataNames) hasOne(word string) bool {
	if strings.HasPrefix(word, "/") {
		return d.hasPath(word) || d.unknown && inMember(word)
	}
	if m := reference.FindStringSubmatch(word); m != nil {
		return d.hasBelow(m[1], m[2])
	}
	own := strings.TrimPrefix(word, "./")
	first, _, _ := strings.Cut(own, "/")
	return d.inside && ownFiles(own) || strings.HasSuffix(first, ".etcd") && ownFiles(own)
}

// inMember reports whether an absolute path has the name of a member's own folder, and is what etcd keeps in it.
func inMember(word string) bool {
	folders := strings.Split(strings.Trim(word, "/"), "/")
	at := slices.IndexFunc(folders, func(folder string) bool { return folder == "member" || strings.HasSuffix(folder, ".etcd") })
	if at < 0 {
		return false
	}
	if folders[at] == "member" {
		return ownFiles(strings.Join(folders[at:], "/"))
	}
	return ownFiles(strings.Join(folders[at+1:], "/"))
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
		return ownFiles(below)
	}
	return strings.HasPrefix(below+"/", "/member/") && ownFiles(below)
}

// above reports whether a folder of data is below a path.
func (d *dataNames) above(word string) bool {
	word = strings.TrimSuffix(unbraced(word), "/") + "/"
	return slices.ContainsFunc(d.dirs, func(dir string) bool { return strings.HasPrefix(dir, word) })
}

func (d *dataNames) hasPath(word string) bool {
	base := strings.TrimSuffix(word, "/")
	if path.Base(base) == "*" {
		base = path.Dir(base)
	}
	base = strings.TrimSuffix(base, "/")
	return d.full() || slices.ContainsFunc(d.dirs, func(dir string) bool {
		below, is := strings.CutPrefix(base, dir+"/")
		return strings.TrimSuffix(base, "*") == dir || is && ownFiles(below)
	}) || d.above(base)
}

// ownFiles reports whether a path in a folder of data is what etcd keeps there.
func ownFiles(below string) bool {
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
