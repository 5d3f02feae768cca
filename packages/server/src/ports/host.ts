/** Figures of the machine about itself. Percentages from 0 to 100. */
export interface Host {
  resources(): Promise<{
    readonly cpu_percent: number
    readonly memory_percent: number
    readonly disk_percent: number
  }>
  info(): { readonly platform: string; readonly arch: string; readonly node: string }
  processMemory(): { readonly rss_bytes: number; readonly heap_used_bytes: number }
}
