// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// The forms of operands.
var (
	anything = regexp.MustCompile(`^[^-]`)
	duration = regexp.MustCompile(`^(?:[0-9.]+(?:e[0-9]+)?|inf(?:inity)?)[smhd]?$`)
	decimal  = regexp.MustCompile(`^[0-9]+$`)
	cpus     = regexp.MustCompile(`^[0-9a-fA-Fx,:-]+$`)
)

// launchers are those with which etcd is started, by name, with the options that their manuals have.
var launchers = map[string]launcher{
	// The shell's own.
	"exec":    {short: "cla:"},
	"command": {short: "pvV", without: "-v -V"},
	"builtin": {runs: func(r launched, argv []string) bool {
		return slices.Contains([]string{"exec", "command", "builtin"}, argv[r.next])
	}},

	// Those of coreutils.
	"nohup":   {},
	"nice":    {short: "n:", long: "adjustment:", numbers: true},
	"stdbuf":  {short: "i:o:e:", long: "input: output: error:"},
	"timeout": {short: "fk:ps:v", long: "foreground kill-after: preserve-status signal: verbose", operand: duration},
	"chroot":  {long: "userspec: groups: skip-chdir", operand: anything, shell: true},
	"env": {
		short: "i0u:C:S:va:", without: "-0 --null", assigns: true, dash: true,
		long: "ignore-environment null unset: chdir: split-string: debug argv0: block-signal:: default-signal:: ignore-signal:: list-signal-handling",
	},

	// Those of util-linux.
	"setsid": {short: "cfwVh", long: "ctty fork wait", without: "-V -h"},
	"ionice": {short: "c:n:p:P:u:tVh", long: "class: classdata: pid: pgid: uid: ignore", without: "-p -P -u -V -h --pid --pgid --uid"},
	"chrt": {
		short: "abdefimoprRT:P:D:vVh", without: "-p --pid -m --max -V -h", operand: decimal,
		long: "all-tasks batch deadline ext fifo idle max other pid rr reset-on-fork sched-runtime: sched-period: sched-deadline: verbose",
	},
	"taskset": {short: "apcVh", long: "all-tasks pid cpu-list", without: "-p --pid -V -h", operand: cpus},
	"setpriv": {
		short: "dVh", without: "-d --dump --list-caps -V -h", resets: "--reset-env",
		long: "dump nnp no-new-privs ruid: euid: rgid: egid: reuid: regid: clear-groups keep-groups init-groups groups: inh-caps: " +
			"ambient-caps: bounding-set: list-caps ptracer: securebits: pdeathsig: selinux-label: apparmor-profile: reset-env " +
			"landlock-access: landlock-rule: seccomp-filter:",
	},
	"prlimit": {
		short: "c::d::e::f::i::l::m::n::q::r::s::t::u::v::x::y::p:o:Vh", without: "-p --pid -V -h",
		long: "core:: data:: nice:: fsize:: sigpending:: memlock:: rss:: nofile:: msgqueue:: rtprio:: stack:: cpu:: nproc:: as:: locks:: " +
			"rttime:: pid: output: noheadings raw verbose",
	},
	"setarch": personality(true), "linux32": personality(false), "linux64": personality(false),
	"flock": {
		short: "sexunow:E:FVh", without: "-V -h", operand: anything,
		long: "shared exclusive unlock nonblock nb nonblocking timeout: wait: conflict-exit-code: close no-fork fcntl start: length: verbose",
	},
	"unshare": {
		short: "muinpUCTfrcR:w:S:G:l:Vh", without: "-V -h", shell: true,
		long: "mount:: uts:: ipc:: net:: pid:: user:: cgroup:: time:: fork map-user: map-group: map-root-user map-current-user map-auto " +
			"map-users: map-groups: map-subids kill-child:: mount-proc:: mount-binfmt:: propagation: setgroups: keep-caps root: wd: setuid: " +
			"setgid: monotonic: boottime: load-interp: forward-signals owner:",
	},
	"nsenter": {
		short: "at:m::u::i::n::p::C::U::T::N:S:G:r::w::W:FZecVh", without: "-V -h", resets: "-e --env", shell: true,
		long: "all target: mount:: uts:: ipc:: net:: net-socket: pid:: cgroup:: user:: user-parent time:: setuid: setgid: preserve-credentials " +
			"keep-caps root:: wd:: wdns: env no-fork follow-context join-cgroup",
	},
	// Without -u it runs a shell, of which foldedShell has the script. It also reads options behind the command.
	"runuser": {short: "u:" + ofSu, long: "user: " + longOfSu, without: "-V -h", dash: true, resets: "-l --login -", runs: func(r launched, argv []string) bool {
		return r.has("-u --user") && (argv[r.next-1] == "--" || !slices.ContainsFunc(argv[r.next:], func(w string) bool { return strings.HasPrefix(w, "-") }))
	}},
	"su": {short: ofSu, long: longOfSu, dash: true, runs: never},
	// loginShell stands for su with a login.
	loginShell: {bare: true, resets: "*"},

	// Others.
	"tini": tini, "tini-static": tini, "docker-init": tini,
	"chpst":        {short: "u:U:e:/:n:l:L:m:d:o:p:f:c:t:r:b:vP012V", without: "-V", resets: "-e"},
	"envdir":       {bare: true, operand: anything, resets: "*"},
	"setuidgid":    {bare: true, operand: anything},
	"dumb-init":    {short: "hvVcr:", long: "single-child rewrite: verbose", without: "-h -V"},
	"catatonit":    {short: "ghLPV", without: "-h -L -P -V"},
	"gosu":         {bare: true, operand: anything},
	"su-exec":      {bare: true, operand: anything},
	"s6-setuidgid": {bare: true, operand: anything},
	"doas":         {short: "a:C:Lnsu:", without: "-C -L", resets: "*", shell: true},
	"sudo": {
		short: "Aa:BbC:c:D:EeHg:iKklNnPp:R:r:SsT:t:U:u:Vv", without: "-e -K -l -U -V -v --edit --remove-timestamp --list --other-user --validate",
		resets: "*", assigns: true, shell: true,
		long: "askpass auth-type: background bell close-from: chdir: preserve-env:: edit group: set-home host: login remove-timestamp " +
			"reset-timestamp list no-update non-interactive preserve-groups prompt: chroot: role: stdin shell command-timeout: type: " +
			"other-user: user: validate",
	},
	"numactl": {
		short: "abi:w:p:P:C:N:c:m:lsHh", without: "-s --show -H --hardware -h",
		long: "all balancing interleave: weighted-interleave: preferred: preferred-many: physcpubind: cpunodebind: cpubind: membind: localalloc " +
			"show hardware cpu-compress",
	},
	"time":  {short: "af:o:pqvVh", long: "append format: output: portability quiet verbose", without: "-V -h"},
	"xargs": {bare: true, runs: never}, // it gets arguments from its input
	"busybox": {bare: true, runs: func(r launched, argv []string) bool {
		return !namesEtcd(argv[r.next]) && path.Base(argv[r.next]) == argv[r.next]
	}},
}

const (
	ofSu       = "c:fg:G:lmpPTs:w:Vh"
	longOfSu   = "command: session-command: fast group: supp-group: login preserve-environment pty no-pty shell: whitelist-environment:"
	loginShell = "su -"
)

// tini is tini, which has other names where it is linked statically and where Docker has it.
var tini = launcher{short: "p:hvwgle:s", without: "-h -l"}

func never(launched, []string) bool { return false }

// personality is setarch, which may have an architecture before its options, and its other names.
func personality(leads bool) launcher {
	return launcher{
		short: "vR3BFILSTXZVh", without: "--list --show -V -h", leads: leads, shell: true,
		long: "32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec " +
			"mmap-page-zero 3gb 4gb uname-2.6 verbose list show:: pid:",
	}
}
