// Fate trails from C#, in one file: copy it into your project. C# 6 or newer, .NET Framework, .NET or Mono.
//
//     var trail = new Trail("7");                                  // the first stage is at offset zero
//     trail.Stamp("POSTED", "orders");
//     trail.StampUntimed("TURN_START", "orders");                  // ordered by its place; prints (+?)
//     trail.StampUntimed("HANDLER_ENTER", "orders");
//     trail.Stamp("HANDLER_EXIT", "orders", Detail.Of("state", "processed"));
//     Console.WriteLine(trail.Line("handled"));
//
// A trail belongs to one delivery and to one thread at a time. It keeps its first four and its last ten stages and
// counts the rest, so that its memory is bounded. Tokens come from the registry (`fixtures/data/contract/stages.txt`)
// or are an application's own with a dot inside. The text is that of `fate-trail/docs/trail-text.md`, grammar version 1.0.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Text;

namespace FateTrail
{
    /// <summary>One <c>key=value</c> of a stage.</summary>
    public struct Detail
    {
        internal readonly string Text;

        Detail(string key, string value)
        {
            Text = Encoding.Word(key) + "=" + value;
        }

        /// <summary>A text.</summary>
        public static Detail Of(string key, string value)
        {
            return new Detail(key, Encoding.Encode(value));
        }

        /// <summary>A number.</summary>
        public static Detail Of(string key, long value)
        {
            return new Detail(key, value.ToString(CultureInfo.InvariantCulture));
        }

        /// <summary>A list, joined with commas.</summary>
        public static Detail List(string key, IEnumerable<string> elements)
        {
            return new Detail(key, string.Join(",", elements.Select(element => Encoding.Encode(element))));
        }

        /// <summary>A number of which only a lower bound is known; prints with a trailing <c>+</c>.</summary>
        public static Detail AtLeast(string key, long value)
        {
            return new Detail(key, value.ToString(CultureInfo.InvariantCulture) + "+");
        }
    }

    /// <summary>The way of one delivery.</summary>
    public sealed class Trail
    {
        public const string GrammarVersion = "1.0";

        static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);

        readonly string id;
        readonly long? at;
        readonly Stopwatch watch = Stopwatch.StartNew();
        readonly Way way = new Way();
        readonly List<KeyValuePair<int, Way>> replies = new List<KeyValuePair<int, Way>>();

        /// <summary>A trail whose first stage is now.</summary>
        public Trail(string id) : this(id, (DateTime.UtcNow - Epoch).Ticks / 10)
        {
        }

        /// <summary>A trail whose first stage is at that many microseconds since the Unix epoch, or unknown.</summary>
        public Trail(string id, long? at)
        {
            this.id = id;
            this.at = at;
        }

        /// <summary>Stamps a stage now.</summary>
        public void Stamp(string token, string hub, params Detail[] details)
        {
            var first = way.IsEmpty && replies.Count == 0;
            var micros = (long)(watch.ElapsedTicks * (1000000.0 / Stopwatch.Frequency));
            StampAt(first ? 0 : micros, token, hub, details);
        }

        /// <summary>Stamps a stage that is ordered by its place alone.</summary>
        public void StampUntimed(string token, string hub, params Detail[] details)
        {
            StampAt(null, token, hub, details);
        }

        /// <summary>Stamps a stage at that many microseconds after the first, or null.</summary>
        public void StampAt(long? offset, string token, string hub, params Detail[] details)
        {
            var time = offset == null
                ? "?"
                : string.Format(CultureInfo.InvariantCulture, "{0}.{1:000}", offset / 1000, offset % 1000);
            var stage = Encoding.Word(token) + "@" + Encoding.Word(hub) + "(+" + time + ")";
            var current = replies.Count == 0 ? way : replies[replies.Count - 1].Value;
            current.Add(string.Join(" ", new[] { stage }.Concat(details.Select(detail => detail.Text))));
        }

        /// <summary>What is stamped from now on stands on the way of that reply, 1 for the first.</summary>
        public void Reply(int number)
        {
            replies.Add(new KeyValuePair<int, Way>(number, new Way()));
        }

        /// <summary>The trail on one line, without a line break; printable ASCII only.</summary>
        public string Line(string verdict = null)
        {
            var line = new StringBuilder("fate ").Append(Encoding.Word(id)).Append(' ');
            if (at != null)
            {
                line.Append("at=").Append(Rfc3339(at.Value)).Append(' ');
            }
            line.Append(way);
            foreach (var reply in replies)
            {
                line.Append(" <- reply#").Append(reply.Key).Append(' ').Append(reply.Value);
            }
            if (verdict != null)
            {
                line.Append(" || ").Append(Encoding.Verdict(verdict));
            }
            return line.ToString();
        }

        public override string ToString()
        {
            return Line();
        }

        static string Rfc3339(long micros)
        {
            // Microseconds of 0000-01-01 and of 10000-01-01, between which RFC 3339 can write a time; DateTime begins
            // a year later, and the calendar repeats after 400 years.
            const long First = -62167219200000000, End = 253402300800000000, Era = 12622780800000000;
            micros = Math.Min(Math.Max(micros, First), End - 1);
            var early = micros < First + Era;
            var time = Epoch.AddTicks((early ? micros + Era : micros) * 10);
            var year = (early ? time.Year - 400 : time.Year).ToString("0000", CultureInfo.InvariantCulture);
            return year + time.ToString("'-'MM'-'dd'T'HH':'mm':'ss'.'ffffff'Z'", CultureInfo.InvariantCulture);
        }

        /// <summary>Stages in order, the middle of a long way counted and not kept.</summary>
        sealed class Way
        {
            const int Head = 4, Tail = 10;

            readonly List<string> stages = new List<string>();
            long missing;

            internal bool IsEmpty
            {
                get { return stages.Count == 0; }
            }

            internal void Add(string stage)
            {
                stages.Add(stage);
                if (stages.Count > Head + Tail)
                {
                    stages.RemoveAt(Head);
                    missing++;
                }
            }

            public override string ToString()
            {
                var entries = new List<string>(stages);
                if (missing > 0 || entries.Count == 0)
                {
                    entries.Insert(Math.Min(Head, entries.Count), "gap=" + missing);
                }
                return string.Join(" | ", entries);
            }
        }
    }

    /// <summary>Percent-encoding, so that a trail is one line of printable ASCII that XML and JSON leave alone.</summary>
    static class Encoding
    {
        /// <summary>A name: an id, token, hub or key. An empty one is a dash, and a dash is a code.</summary>
        internal static string Word(string text)
        {
            return text == "" ? "-" : text == "-" ? "%2D" : Encode(text);
        }

        internal static string Encode(string text)
        {
            return Encode(text, "");
        }

        /// <summary>Spaces stay inside and are codes at both ends.</summary>
        internal static string Verdict(string text)
        {
            if (text == "" || text == "-")
            {
                return Word(text);
            }
            var inner = Encode(text, "()@=, ");
            var start = inner[0] == ' ' ? 1 : 0;
            var end = inner.Length > 1 && inner[inner.Length - 1] == ' ' ? 1 : 0;
            return (start == 1 ? "%20" : "") + inner.Substring(start, inner.Length - start - end) + (end == 1 ? "%20" : "");
        }

        static string Encode(string text, string readable)
        {
            var encoded = new StringBuilder(text.Length);
            foreach (var octet in System.Text.Encoding.UTF8.GetBytes(text))
            {
                var c = (char)octet;
                if (octet > 0x20 && octet < 0x7f && "()@=|,%\"&'<>\\".IndexOf(c) < 0 || readable.IndexOf(c) >= 0)
                {
                    encoded.Append(c);
                }
                else
                {
                    encoded.Append('%').Append(octet.ToString("X2"));
                }
            }
            return encoded.ToString();
        }
    }
}
