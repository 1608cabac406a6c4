/** What has to be done about an XID, from the least to the most. */
export type XidClass = 'application' | 'reset' | 'reboot' | 'replace'

/**
 * Codes by what NVIDIA's Xid catalogue names as recovery: docs.nvidia.com/deploy/xid-errors, "Xid Error Listing". Those
 * that are not here are of no one class: their cause has to be looked up.
 */
const CODES: Record<XidClass, readonly number[]> = {
  application: [8, 13, 31, 32, 43, 45, 68, 69, 94],
  reset: [46, 48, 61, 62, 63, 74, 95, 109, 110, 119, 120, 136, 140, 143, 144, 145, 146, 147, 148, 149, 150, 158],
  reboot: [79, 151],
  replace: [64, 92],
}

export function xidClassOf(code: number): XidClass | undefined {
  return (Object.keys(CODES) as XidClass[]).find((one) => CODES[one].includes(code))
}
