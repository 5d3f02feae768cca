import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** Fields of a process behind its name, from its state on; null for one that ended. */
const fieldsOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
  } catch {
    return null
  }
}

const sum = (fields, positions) =>
  (positions.reduce((total, at) => total + Number(fields[at]), 0) / ticksPerSecond) * 1e6

const own = [11, 12]
/** Of children that ended, which the system adds to their parent. */
const ofEnded = [13, 14]
const parent = 1

/** Processor time of one process with all its threads, as the system counts it. */
export const processorMicroseconds = (pid) => sum(fieldsOf(pid), own)

/** The same of a process and its children, those that ended, too: a database has one for each connection. */
export const familyMicroseconds = (pid) => {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const children = processes.map(fieldsOf).filter((fields) => fields?.[parent] === String(pid))
  const ofChildren = children.reduce((total, fields) => total + sum(fields, own), 0)
  return sum(fieldsOf(pid), [...own, ...ofEnded]) + ofChildren
}
