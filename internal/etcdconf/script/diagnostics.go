// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"
)

// diagnostics are tools beside those of every image that a script asks before it fails, or before it tries again. None of
// them serves, unless by an argument.
var diagnostics = map[string]bool{
	"apk": true, "apt-get": true, "aws": true, "az": true, "base64": true, "cmp": true, "diff": true, "dig": true, "dmesg": true, "df": true, "du": true,
	"expr": true, "file": true, "findmnt": true, "free": true, "gcloud": true, "getent": true, "getfattr": true, "gsutil": true, "gunzip": true,
	"gzip": true, "host": true, "ifconfig": true, "ip": true, "jq": true, "kubectl": true, "ldd": true, "lsblk": true, "lsof": true, "md5sum": true,
	"mount": true, "mountpoint": true, "mysqladmin": true, "netstat": true, "nproc": true, "nslookup": true, "openssl": true, "pg_isready": true,
	"printenv": true, "route": true, "rsync": true, "s3cmd": true, "sha256sum": true, "ss": true, "sysctl": true, "tar": true, "traceroute": true,
	"tty": true, "umount": true, "unzip": true, "uptime": true, "xz": true, "yq": true,
}

// serving are arguments with which a tool goes on.
var serving = map[string]bool{
	"serve": true, "server": true, "proxy": true, "agent": true, "daemon": true, "--daemon": true, "port-forward": true, "monitor": true, "s_server": true,
	"attach": true, "--watch": true, "-w": true, "--follow": true, "ssh": true, "interactive": true,
}

// prepares reports whether a program is none that serves, by its name and its arguments.
func prepares(argv []string, at int) bool {
	name, args := path.Base(argv[at]), argv[at+1:]
	switch {
	case tools[name]:
		return true
	case !ofSystem[strings.TrimSuffix(argv[at], name)]:
		return false
	case name == "ping" || name == "ping6":
		return slices.ContainsFunc(args, limitsPings)
	case interpreters[name]:
		return len(args) > 1 && (args[0] == "-c" || args[0] == "-e") && !mayServe(args[1])
	case name == "kubectl" && slices.Contains(args, "logs"):
		return !slices.Contains(args, "-f")
	case diagnostics[name]:
		return !slices.ContainsFunc(args, func(word string) bool { return serving[word] })
	}
	return speaks(argv[at])
}

// ofSystem are the folders of the system's own tools, and none.
var ofSystem = map[string]bool{"": true, "/bin/": true, "/sbin/": true, "/usr/bin/": true, "/usr/sbin/": true, "/usr/local/bin/": true}

// interpreters are those of other languages.
var interpreters = map[string]bool{"python": true, "python3": true, "perl": true}

// limitsPings reports whether an argument of ping has it end.
func limitsPings(word string) bool {
	return strings.HasPrefix(word, "-c") || strings.HasPrefix(word, "-w")
}

// mayServe reports whether a text in another language may go on for long.
func mayServe(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, UnknownWord) || slices.ContainsFunc([]string{"serv", "while", "loop", "listen", "exec", "system", "subprocess", "spawn", "import_module", "runpy"},
		func(part string) bool { return strings.Contains(text, part) })
}

// messages are parts of the names of functions that write a message.
var messages = map[string]bool{
	"abort": true, "bail": true, "debug": true, "die": true, "echo": true, "echoerr": true, "err": true, "error": true, "fail": true, "fatal": true, "info": true,
	"log": true, "message": true, "msg": true, "notice": true, "panic": true, "print": true, "stderr": true, "usage": true, "warn": true, "warning": true,
}

// speaks reports whether a name without a path begins or ends with a part for messages, such as log_error: the function of a
// file that isn't read.
func speaks(name string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == ':' || r == '.' })
	return !strings.Contains(name, "/") && len(parts) > 0 && (messages[parts[0]] || messages[parts[len(parts)-1]]) && !programs[parts[len(parts)-1]]
}

// programs are ends with which the name of a program ends that serves.
var programs = map[string]bool{
	"agent": true, "app": true, "daemon": true, "exporter": true, "forwarder": true, "main": true, "proxy": true, "router": true, "run": true, "safe": true,
	"serve": true, "server": true, "service": true, "shipper": true, "start": true, "worker": true,
}

// mayBeFunction reports whether a name may be a function of a file that isn't read: programs that serve have no such name.
func (s *Script) mayBeFunction(name string) bool {
	parts := strings.Split(name, "_")
	return s.sourced && isName(name) && len(parts) > 1 && !programs[parts[len(parts)-1]]
}
