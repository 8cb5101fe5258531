package contacts

// Texts of the pieces. Numbers in them are those of the tables with 20 networks and seed 1.
const (
	lengthsNote = `
The paper wants to minimize "the bandwidth and energy usage" of exchanged filters, but measures
neither. Here 200 peers have 600 contacts, four of five inside groups of four. A store has a quarter
of 1000 objects to all of them, out of 10000 (Zipf, exponent 0.8), and a peer wants 100 others.
Before each contact 1 % of the store and 10 % of what is wanted are replaced. The length of a contact
is exponentially distributed, and a peer only knows its mean. Each direction has half of the bytes:
a summary, then requests (48 bytes), each of which yields the object (272 bytes) or a refusal (16).

The *full filter* is planned for 1000 keys at 1 %. The *fold of the paper* has the rate 1 % ± 0.2 %
for the current keys, by equation (14) corrected, and is not compressed. The *Squid digest* has 5
bits per key, k = 4 and a head of 128 bytes. These three are sent whole or not at all. The *key list*
has 8 bytes per key, popular keys first, in at most half of an expected contact. *umbel* sends a
packed fold of at most a quarter of an expected contact, requests what is probably present, then
sends refinements as long as they cost less than the false positives that they save; after each,
what has arrived is used. With *deltas*, it sends the change from the last filter that this peer
received, if that costs less. With *no summary*, a peer sends 8 bytes for each wanted key.

Objects found per kilobyte, counting all bytes; ± is half of the 95 % interval over 20 networks,
which are the same for all schemes. Folding as in the paper improves on the full filter everywhere.
umbel improves on every other summary in every row. The shorter the contact, the larger the gain: at
0.5 s and 1 kB/s it is 9.5 times the paper's fold and 5 times the Squid digest, at 60 s 4 and 8 %.
With 100 wanted objects, sending the wanted keys is better still in six of eight rows; see
000/contacts-sizes for when it is not.`

	requestsNote = `
At 60 s, all filters find the same: then only the bytes differ. The rate that umbel accepts follows
from the cost of a false positive, 64 bytes, so it wastes more requests than the paper's fold. At
0.5 s, half of its requests are wasted and it still finds ten times as many objects as the paper's
fold. A key list wastes no request.`

	sizesNote = `
Objects found per kilobyte in contacts of 2 s at 1 kB/s; the stores have up to as many objects as the
first number. Where umbel does not win: with stores of at most 50 objects, the paper's fold is as
small as a packed one, within 2 %, and only deltas equal it. With few wanted objects (20 of 1000), or
5000 objects and 100 wanted, sending the wanted keys costs less than any summary. A summary pays if
more is wanted or if stores are small. In stores of 5000 objects, whole filters seldom arrive.`

	energyNote = `
Prices. Bluetooth LE: Nordic nRF52840, product specification, 4.8 mA to send at 0 dBm and 4.6 mA to
receive at 3 V with DC/DC converter, 1 Mbit/s. IEEE 802.15.4: Texas Instruments CC2420, data sheet
SWRS041, 17.4 mA and 18.8 mA, here at 3 V, 250 kbit/s. IEEE 802.11: Feeney and Nilsson, INFOCOM 2001,
1.9 µJ/byte + 454 µJ per packet to send and 0.5 µJ/byte + 356 µJ to receive. The processor is that of
the nRF52840: 52 µA/MHz at 64 MHz. It is assumed to take 10 µs per key and 1 µs per coded cell at
each end; one price has ten times that. Energy of both ends; a waiting radio is not counted.

Coding costs umbel part of its gain. With Bluetooth LE it finds 11 % more per joule than the Squid
digest at 2 s, and 3 to 7 % less than the digest and the paper's fold at 60 s. If the processor takes
ten times as much, umbel is behind the Squid digest and the key list, and deltas make it worse: then
filters should be sent uncompressed. With IEEE 802.11 the packets of requests cost most, and long
contacts favor the full filter, which has the fewest false positives. Sending the wanted keys needs
no coding and no requests; only with IEEE 802.15.4, at 2 s, umbel with deltas finds more. In the last
row the energy ends a contact of up to 600 kB: 4 mJ for each direction. There umbel with deltas finds
14 % more than any other scheme.`

	ratesNote = `
The number of false positives in a network of 600 contacts of 60 s on average, by equation (1) with
the power k, from the cells and keys of each filter that arrived, and as measured. In the
simulation too, equation (1) with its power is right.`
)
