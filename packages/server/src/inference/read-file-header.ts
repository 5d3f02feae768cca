import type { FileHandle } from 'node:fs/promises'
import type { ModelHeader } from '@gatehouse/contract'
import { headerBytesMax, readGgufHeader } from '../domain/models/gguf-header.ts'
import { HeaderNotAccepted } from './header-watch.ts'

/** Reads as much of a whole file as its header takes. Raises `HeaderNotAccepted`. */
export async function readFileHeader(handle: FileHandle, fileBytes: number): Promise<ModelHeader> {
  for (let length = 1024 * 1024; ; length *= 2) {
    const most = Math.min(length, fileBytes, headerBytesMax)
    const bytes = Buffer.allocUnsafe(most)
    const { bytesRead } = await handle.read(bytes, 0, most, 0)
    const reading = readGgufHeader(bytes.subarray(0, bytesRead), fileBytes)
    if (reading.kind === 'accepted') return reading.header
    if (reading.kind === 'refused') throw new HeaderNotAccepted(reading.reason)
    if (bytesRead < most) throw new HeaderNotAccepted('it is shorter than it was')
  }
}
