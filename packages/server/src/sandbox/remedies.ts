import { abiNeeded } from './landlock-rules.ts'

export type Lack = { readonly reason: string; readonly remedy: string }

const installers = [
  {
    system: /\b(debian|ubuntu)\b/,
    command: 'apt-get install',
    bubblewrap: 'bubblewrap',
    perl: 'perl-base',
  },
  {
    system: /\b(fedora|rhel|centos)\b/,
    command: 'dnf install',
    bubblewrap: 'bubblewrap',
    perl: 'perl-interpreter',
  },
  { system: /\barch\b/, command: 'pacman -S', bubblewrap: 'bubblewrap', perl: 'perl' },
  {
    system: /\b(suse|opensuse)\b/,
    command: 'zypper install',
    bubblewrap: 'bubblewrap',
    perl: 'perl-base',
  },
  { system: /\balpine\b/, command: 'apk add', bubblewrap: 'bubblewrap', perl: 'perl' },
] as const

/** The system's own names for itself, from os-release. */
export const systemIds = (osRelease: string): string =>
  [...osRelease.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)"?$/gm)].map(([, id]) => id).join(' ')

export const lackOfProgram = (program: 'bubblewrap' | 'perl', osRelease: string): Lack => {
  const ids = systemIds(osRelease)
  const installer = installers.find(({ system }) => system.test(ids))
  return {
    reason: `${program} is not installed`,
    remedy:
      installer === undefined
        ? `Install ${program} with the package manager of this system.`
        : `Run as root: ${installer.command} ${installer[program]}`,
  }
}

const appArmor = [
  'This system lets only programs with an AppArmor profile make user namespaces, and bubblewrap has none.',
  'Run as root: apt-get install apparmor-profiles && cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict',
].join(' ')

export type KernelFacts = {
  readonly appArmorRestricts: boolean
  /** `kernel.unprivileged_userns_clone`, where there is such a switch. */
  readonly clone: string | null
  readonly namespacesMax: string | null
  readonly inContainer: boolean
}

/** Remedy for a bubblewrap that did not come up, from what it said and how the kernel is set. */
export const lackOfRights = (said: string, facts: KernelFacts): Lack => {
  const reason = `bubblewrap cannot make a sandbox: ${said}`
  if (/unknown option/i.test(said))
    return {
      reason,
      remedy: 'bubblewrap 0.8 or newer is needed; update the system or the package.',
    }
  if (facts.clone === '0')
    return {
      reason,
      remedy:
        'The kernel refuses user namespaces. Run as root: sysctl -w kernel.unprivileged_userns_clone=1, and write the same into /etc/sysctl.d/gatehouse.conf',
    }
  if (facts.namespacesMax === '0')
    return {
      reason,
      remedy:
        'The kernel allows no user namespaces. Run as root: sysctl -w user.max_user_namespaces=15000, and write the same into /etc/sysctl.d/gatehouse.conf',
    }
  if (facts.appArmorRestricts) return { reason, remedy: appArmor }
  if (facts.inContainer)
    return {
      reason,
      remedy:
        'The container around the service forbids namespaces. Run the service outside of it, or start the container with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined',
    }
  return {
    reason,
    remedy:
      'Let bubblewrap make user namespaces on this machine, then run gatehouse doctor. Programs do not run until then.',
  }
}

const newer =
  'Let bubblewrap make a sandbox on this machine, or run a newer kernel: Linux 6.12 or later.'

/** Remedy where programs cannot be confined by Landlock, from what the launcher said. */
export const lackOfLandlock = (said: string): Lack => {
  const found = /^gatehouse: landlock (.*)$/m.exec(said)?.[1]
  if (found === undefined)
    return {
      reason: `Landlock cannot make a sandbox: ${said}`,
      remedy: 'Let bubblewrap make a sandbox on this machine, then run gatehouse doctor.',
    }
  if (found === 'off')
    return {
      reason: 'Landlock is switched off in this kernel',
      remedy: 'Let bubblewrap make a sandbox, or add landlock to the lsm= parameter of the kernel.',
    }
  if (found === 'none') return { reason: 'this kernel has no Landlock', remedy: newer }
  if (/^\d+$/.test(found))
    return {
      reason: `this kernel has version ${found} of Landlock, and ${abiNeeded} is needed`,
      remedy: newer,
    }
  return {
    reason: `Landlock is not allowed here (${found})`,
    remedy: 'Let bubblewrap make a sandbox, or let the filter of the container allow landlock_*.',
  }
}
