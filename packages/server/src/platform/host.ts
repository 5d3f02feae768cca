import { statfs } from 'node:fs/promises'
import { arch, cpus, freemem, platform, totalmem } from 'node:os'
import type { Host } from '../ports/host.ts'

const percent = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.round(Math.min(100, Math.max(0, (part / whole) * 100)) * 10) / 10

const cpuTimes = (): { busy: number; all: number } => {
  let busy = 0
  let all = 0
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.irq
    busy += sum
    all += sum + times.idle
  }
  return { busy, all }
}

export const createHost = (directory: string): Host => {
  let last = cpuTimes()
  let cpu_percent = 0
  return {
    async resources() {
      const now = cpuTimes()
      // Between two looks; a second look in the same tick keeps the figure of the first.
      if (now.all > last.all) cpu_percent = percent(now.busy - last.busy, now.all - last.all)
      last = now
      const disk = await statfs(directory)
      return {
        cpu_percent,
        memory_percent: percent(totalmem() - freemem(), totalmem()),
        disk_percent: percent(disk.blocks - disk.bavail, disk.blocks),
      }
    },
    info: () => ({ platform: platform(), arch: arch(), node: process.version }),
    processMemory() {
      const { rss, heapUsed } = process.memoryUsage()
      return { rss_bytes: rss, heap_used_bytes: heapUsed }
    },
  }
}
