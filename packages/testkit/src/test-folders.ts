import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { env } from 'node:process'

// A run of the tests has folders of its own, and each of its files has some of those (scripts/lib/folders-of-file.mjs).
// Whatever else uses the kit has those of the machine.

/** Folder for what a process keeps for its next files. */
export const runFolder = (): string => env['GATEHOUSE_TEST_DISK'] ?? tmpdir()

const ofMachine = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir())

/** The same in memory, where this system has it as a folder: what is synced there waits for no disk. */
export const memoryOfRun = (): string => env['GATEHOUSE_TEST_MEMORY_OF_RUN'] ?? ofMachine()

/** Folder in memory for what a file needs. */
export const memoryOfFile = (): string => env['GATEHOUSE_TEST_MEMORY'] ?? ofMachine()
